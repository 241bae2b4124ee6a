"""A notice offers the step back, while nobody else was faster."""

import re

import orjson
import pytest
from flask.testing import FlaskClient

from petstore.models.orders import Order, withdraw_pet
from petstore.models.pets import Pet
from petstore.models.projects import Project
from petstore.models.stored_responses import StoredResponse
from tests.harness.browser import Browser, add_pet, words
from tests.harness.databases import of_both_engines

ANIMALS = "/dashboard/animals"
ORDERS = "/dashboard/orders"
REX = {"name": "Rex", "category": "Dogs", "status": "sold"}


def step(page: str, label: str) -> str:
    """Return the address of a link or a form in the notice of a page."""
    notice = page.partition('class="steps"')[2].partition("</div>")[0]
    found = re.search(f'<a[^>]* href="([^"]*)">{label}</a>', notice)
    found = found or re.search(f'action="([^"]*)".*{label}</button>', notice, re.DOTALL)
    assert found, notice
    return found[1]


def test_an_animal_that_was_added_is_opened_or_removed(
    browser: Browser, project: Project
):
    page = browser.get(browser.submit(ANIMALS, **REX).location).text
    assert step(page, "Open the animal") == f"{ANIMALS}/1"
    assert step(page, "Open the category") == f"{ANIMALS}?category=1"
    removed = browser.follow(step(page, "Undo: remove the animal"))
    assert "Removed Rex (no. 1)." in removed
    assert "Undo: remove the animal" not in browser.get(ANIMALS).text
    assert not Pet.page(project.id, after=0, limit=1)


def test_a_form_that_is_repeated_offers_the_step_as_well(browser: Browser):
    for _ in range(2):
        answer = browser.submit(ANIMALS, **REX, idempotency_key="once")
        page = browser.get(answer.location).text
        assert step(page, "Undo: remove the animal") == f"{ANIMALS}/1/withdraw"
    # Release 1.2.0 takes no more members, if the form comes to it again.
    assert len(orjson.loads(StoredResponse.get().body)) == 3


def test_an_animal_that_was_removed_is_added_again(browser: Browser, project: Project):
    browser.submit(ANIMALS, **REX)
    page = browser.get(browser.submit(f"{ANIMALS}/1/withdraw").location).text
    form = browser.get(step(page, "Undo: add it again")).text
    assert 'value="Rex"' in form
    assert '<option value="1" selected>Dogs</option>' in form
    assert '<option value="sold" selected>' in form


@of_both_engines
def test_a_closed_order_is_opened_again(
    browser: Browser, client: FlaskClient, project: Project
):
    for deed in ("complete", "cancel"):
        order = Order.place(project.id, add_pet(project, "Tom"), "Ms Lovelace")
        closed = browser.submit(f"{ORDERS}/{order.id}/{deed}")
        page = browser.get(closed.location).text
        assert step(page, "Open the animal") == f"{ANIMALS}/{order.pet_id}"
        undo = step(page, "Undo: open the order again")
        said = browser.follow(undo)
        assert f"Order {order.id} is open again, and Tom is reserved." in said
        assert Pet.get_own(project.id, order.pet_id).status == "pending"
        seen = client.get(f"/v1/store/orders/{order.id}").json
        assert (seen["status"], seen["reference"]) == ("placed", "Ms Lovelace")
        assert f"The order {order.id} is open already." in browser.follow(undo)


@of_both_engines
@pytest.mark.parametrize("faster", ["order", "correct", "withdraw"])
def test_an_order_stays_closed_if_somebody_was_faster(
    browser: Browser, project: Project, faster: str
):
    order = Order.place(project.id, add_pet(project, "Tom"))
    Order.change(project.id, order.id, status="cancelled")
    did, said = {
        "order": (lambda: Order.place(project.id, 1), "another order is open for"),
        "correct": (lambda: Pet.correct(project.id, 1, status="sold"), "Tom is sold"),
        "withdraw": (lambda: withdraw_pet(project.id, 1), "has removed the animal"),
    }[faster]
    did()
    assert said in browser.follow(f"{ORDERS}/1/reopen")
    assert Order.get_own(project.id, 1).status == "cancelled"


def test_who_removed_an_animal_is_said_and_the_text_stays(
    browser: Browser, project: Project, key: str
):
    browser.submit(ANIMALS, **REX)
    browser.submit(f"{ANIMALS}/1/withdraw")
    answer = browser.submit(f"{ANIMALS}/1", name="Rex the Second")
    assert answer.status_code == 404
    by = f"This was done by {key[:16]} Your key on 17 Mar 2027 12:00 UTC ."
    assert f"Removed Rex (no. 1). {by}" in words(answer)
    assert "This is what you typed: Rex the Second" in words(answer)
    add_pet(project, "Tom")
    withdraw_pet(project.id, 2)  # by a program
    assert "This was done by" not in browser.read(f"{ANIMALS}/2")
