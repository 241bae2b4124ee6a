"""A form belongs to the project whose page has shown it."""

import re

import pytest

from petstore.extensions.dashboard.models import Upload
from petstore.models.keys import Key
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Project
from tests.harness.browser import SIGN_IN, Browser, add_pet, words

ANIMALS = "/dashboard/animals"
REX = {"name": "Rex", "categoryId": "Dogs", "status": "available"}
SAID = "This page was Rival's. You are signed in to Shelter now."


@pytest.fixture
def old_key(browser: Browser, rival: Project, key: str) -> str:
    """The hidden field of a form of the rival, whose browser has signed in anew."""
    browser.sign_in(Key.issue(rival))
    shown = browser.get(ANIMALS).text
    browser.sign_in(key)
    return re.search('name="idempotency_key" value="([^"]+)"', shown)[1]


def test_every_form_of_a_page_carries_its_project(browser: Browser, project: Project):
    Order.place(project.id, add_pet(project, "Rex"))
    question = browser.upload("name,category\nTom,7\n").location
    pages = ("", "/animals", "/animals/1", "/orders/1", "/categories", "/keys")
    for page in (*(f"/dashboard{page}" for page in pages), question):
        forms = browser.get(page).text.split('<form method="post"')[1:]
        assert len(forms) > 1
        keys = [re.search('idempotency_key" value="([^"]+)"', form) for form in forms]
        whose = [key[1].partition(" ")[2] for key in keys]
        assert whose == [f"{project.id} {project.name}"] * len(forms)


@pytest.mark.parametrize("size", [1, 5_000])
def test_file_is_checked_for_the_project_of_its_page_alone(
    browser: Browser, old_key: str, size: int
):
    answer = browser.upload("name,category\n" + "Tom,7\n" * size, old_key)
    assert SAID in words(answer)
    assert not Upload.select().count()
    question = browser.upload("name,category\nTom,7\n").location
    answer = browser.answer(question, idempotency_key=old_key)
    assert SAID in words(answer)
    assert not Pet.select().count()


def test_what_was_typed_for_another_project_stays_in_the_answer(
    browser: Browser, old_key: str
):
    answer = browser.submit(ANIMALS, **REX, idempotency_key=old_key)
    assert answer.status_code == 400
    assert f"{SAID} Error 400 This is what you typed: Rex Dogs" in words(answer)
    assert "Send again" not in words(answer)
    assert 'value="Rex"' not in browser.get(ANIMALS).text


def test_nobody_signs_out_of_another_project(browser: Browser, old_key: str):
    answer = browser.submit("/dashboard/sign-out", idempotency_key=old_key)
    assert SAID in words(answer)
    assert "Sign out" in browser.read("/dashboard")


def test_form_without_a_project_is_shown_again(browser: Browser):
    """As release 1.3.0 has shown it."""
    answer = browser.client.post(ANIMALS, data=REX | {"idempotency_key": "x"})
    assert answer.location == ANIMALS
    page = browser.get(ANIMALS)
    assert "The service was updated after this page was opened" in words(page)
    assert 'value="Rex"' in page.text
    assert not Pet.select().count()


def test_draft_is_for_the_project_of_its_page(browser: Browser, old_key: str, key: str):
    signed_in = browser.cookie
    browser.submit("/dashboard/sign-out")
    browser.cookie = signed_in
    answer = browser.submit(ANIMALS, **REX, idempotency_key=old_key)
    assert answer.status_code == 401
    assert "this page has kept what you typed: Rex" in words(answer)
    browser.sign_in(key)
    assert 'value="Rex"' not in browser.get(ANIMALS).text
    assert old_key in answer.text


def test_sign_in_page_says_who_is_signed_in(browser: Browser, visitor: Browser):
    said = "You are signed in to Shelter already."
    assert said in browser.read(SIGN_IN)
    assert said not in visitor.read(SIGN_IN)
