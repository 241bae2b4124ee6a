"""A form whose session has ended comes back filled in after signing in."""

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from flask import Flask

from petstore.models.projects import Project
from tests.harness.browser import Browser, add_pet

ANIMALS = "/dashboard/animals"
REX = {"name": "Rex", "categoryId": "Dogs", "status": "sold"}


@pytest.mark.parametrize(
    ("path", "page", "fields"),
    [
        (ANIMALS, ANIMALS, REX),
        (f"{ANIMALS}/1", f"{ANIMALS}/1", {"name": "Max", "categoryId": "Dogs"}),
        (f"{ANIMALS}/1/order", f"{ANIMALS}/1", {"reference": "Ms Lovelace"}),
        ("/dashboard/categories/7", "/dashboard/categories", {"name": "Dogs"}),
        ("/dashboard/keys", "/dashboard/keys", {"label": "Website"}),
    ],
)
def test_what_was_typed_is_there_again(
    app: Flask, key: str, project: Project, path: str, page: str, fields: dict[str, str]
):
    add_pet(project, "Rex")
    browser = Browser(app, key)
    token = browser.token(page)
    browser.submit("/dashboard/sign-out", on=page)
    answer = browser.post(path, csrf_token=token, once="x" * 12, **fields)
    assert answer.status_code == 303
    sent = parse_qs(urlsplit(answer.location).query)
    assert sent["next"] == [page]
    form = browser.get(answer.location).text
    hidden = dict(re.findall('name="(form|next)" value="([^"]+)"', form))
    hidden = {name: unescape(value) for name, value in hidden.items()}
    answer = browser.submit("/dashboard/sign-in", key=key, **hidden)
    assert answer.location == page
    shown = browser.get(page).text
    for text in fields.values():
        assert f'value="{text}"' in shown
    assert "csrf_token" not in answer.location


@pytest.mark.parametrize(
    "text",
    ["", "x", "[]", "[1]", '["/",null]', '["/",[5]]', '["/","x"]', "[" * 3000, "1"],
)
def test_what_is_no_form_is_ignored(app: Flask, key: str, text: str):
    browser = Browser(app)
    answer = browser.submit("/dashboard/sign-in", key=key, form=text)
    assert answer.status_code == 303
    assert browser.get(ANIMALS).status_code == 200


def test_a_form_without_a_session_sets_no_cookie(visitor: Browser):
    answer = visitor.post(ANIMALS, **REX)
    assert answer.status_code == 303
    assert "Set-Cookie" not in answer.headers


# Many letters of East Asia take three times as much, and hardly any less compressed.
LONG = ["x" * 2000, "".join(chr(0x4E00 + n * 7919 % 20_000) for n in range(700))]


@pytest.mark.parametrize("text", LONG)
def test_a_form_that_is_too_long_leads_back_to_its_empty_page(
    visitor: Browser, text: str
):
    answer = visitor.post(ANIMALS, name=text)
    assert answer.location == f"/dashboard/sign-in?next={ANIMALS}"


@pytest.mark.parametrize("text", LONG)
def test_no_link_to_the_sign_in_makes_a_cookie_that_browsers_drop(
    visitor: Browser, key: str, text: str
):
    form = f'["{ANIMALS}",{{"name":"{text}"}}]'
    answer = visitor.submit("/dashboard/sign-in", key=key, form=form)
    assert len(answer.headers["Set-Cookie"]) < 1000
