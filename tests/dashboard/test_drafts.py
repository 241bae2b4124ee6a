"""A form whose session has ended comes back filled in after signing in."""

import pytest
from flask import Flask

from petstore.models.keys import Key
from petstore.models.orders import Order
from petstore.models.projects import Project
from tests.harness.browser import SIGN_IN, Browser, add_pet, words

ANIMALS = "/dashboard/animals"
REX = {"name": "Rex", "categoryId": "Dogs", "status": "sold"}


@pytest.mark.parametrize(
    ("path", "page", "fields"),
    [
        (ANIMALS, ANIMALS, REX),
        (f"{ANIMALS}/1", f"{ANIMALS}/1", {"name": "Max", "categoryId": "Dogs"}),
        (f"{ANIMALS}/1/order", f"{ANIMALS}/1", {"reference": "Ms Lovelace"}),
        ("/dashboard/categories/7", "/dashboard/categories", {"name": "Dogs"}),
        ("/dashboard/orders/1", "/dashboard/orders/1", {"reference": "Ms Lovelace"}),
        ("/dashboard/keys", "/dashboard/keys", {"label": "Website"}),
    ],
)
def test_what_was_typed_is_there_again(
    browser: Browser,
    key: str,
    project: Project,
    path: str,
    page: str,
    fields: dict[str, str],
):
    Order.place(project.id, add_pet(project, "Rex"))
    if path.endswith("order"):
        Order.change(project.id, 1, status="cancelled")
    browser.submit("/dashboard/sign-out")
    answer = browser.submit(path, **fields)
    assert answer.location == f"{SIGN_IN}?next={page}"
    assert "is there again after that" in words(browser.get(answer.location))
    assert browser.submit(SIGN_IN, key=key, next=page).location == page
    shown = browser.get(page).text
    for text in fields.values():
        assert f'value="{text}"' in shown
    assert 'value="Dogs"' not in browser.get(ANIMALS).text  # it is shown once


def test_what_was_typed_for_another_project_is_not_there(
    browser: Browser, key: str, rival: Project
):
    for each in (Key.issue(rival), key):
        browser.submit("/dashboard/sign-out")
        browser.submit(ANIMALS, **REX)
        browser.sign_in(each)
        assert 'value="Rex"' not in browser.get(ANIMALS).text


def test_a_form_without_a_session_sets_no_cookie(visitor: Browser):
    answer = visitor.submit(ANIMALS, **REX)
    assert answer.location == f"{SIGN_IN}?next={ANIMALS}"
    assert "Set-Cookie" not in answer.headers


# Many letters of East Asia take three times as much, and hardly any less compressed.
@pytest.mark.parametrize("length", [700, 1500])
def test_a_form_that_a_cookie_cannot_hold_is_not_kept(
    app: Flask, browser: Browser, key: str, project: Project, length: int
):
    name = "".join(chr(0x4E00 + n * 7919 % 20_000) for n in range(length))
    Key.by_prefix(key[:16]).revoke()
    answer = browser.submit(ANIMALS, name=name)
    assert len(answer.headers["Set-Cookie"]) < 4096
    browser.sign_in(Key.issue(project))
    assert (name in browser.get(ANIMALS).text) == (length == 700)
