"""A notice offers the step back, while nobody else was faster."""

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient

from petstore.extensions.dashboard.merges import Merge
from petstore.extensions.dashboard.orders import reopen
from petstore.models.categories import Category
from petstore.models.keys import Key
from petstore.models.orders import Order, withdraw_pet
from petstore.models.pets import Pet
from petstore.models.projects import Project
from petstore.storage import db
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
        assert step(page, "Undo: remove the animal") == f"{ANIMALS}/1/withdraw?added=1"
        assert 'value="1" selected' in page


def test_an_animal_that_was_removed_is_added_again(browser: Browser, project: Project):
    browser.submit(ANIMALS, **REX)
    page = browser.get(browser.submit(f"{ANIMALS}/1/withdraw").location).text
    form = browser.get(step(page, "Add it again…")).text
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
        undo = step(page, "Undo: open the reservation again")
        said = browser.follow(undo)
        assert f"Reservation {order.id} is open again, and Tom is reserved." in said
        assert Pet.get_own(project.id, order.pet_id).status == "pending"
        seen = client.get(f"/v1/store/orders/{order.id}").json
        assert (seen["status"], seen["reference"]) == ("placed", "Ms Lovelace")
        assert f"The reservation {order.id} is open already." in browser.follow(undo)


def reserve_and_forget(project: Project) -> None:
    """Leave the animal as it was, and no order of what was done."""
    order = Order.place(project.id, 1)
    Order.change(project.id, order.id, status="cancelled")
    Order.remove(project.id, order.id)


def reserve_and_forget_beside(_: Project) -> None:
    """Do the same as the release before this one, which may run beside it."""
    for status in ("pending", "available"):
        db.execute_sql(f"UPDATE pet SET status = '{status}' WHERE id = 1")


def join_categories(project: Project) -> None:
    Category.ensure(project.id, 8)
    Merge.begin(project.id, 1, 8)
    Merge.carry_out(project.id)


# What may happen after a deed, and how the one who wants to take it back is told.
SINCE = {
    "order": (
        lambda project: Order.place(project.id, 1),
        "reserved Tom (reservation ",
    ),
    "correct": (
        lambda project: Pet.correct(project.id, 1, name="Tim"),
        "corrected Tim.",
    ),
    "merge": (join_categories, "corrected Tom."),
    "forgotten": (reserve_and_forget, "somebody has changed Tom."),
    "beside": (reserve_and_forget_beside, "somebody has changed Tom."),
}


@of_both_engines
@pytest.mark.parametrize("since", SINCE)
def test_what_somebody_has_changed_since_is_not_taken_back(
    browser: Browser, project: Project, since: str
):
    tom = REX | {"name": "Tom", "status": "available"}
    added = browser.get(browser.submit(ANIMALS, **tom).location)
    order = Order.place(project.id, 1)
    closed = browser.get(browser.submit(f"{ORDERS}/{order.id}/cancel").location)
    deed, told = SINCE[since]
    deed(project)
    reopened = browser.follow(step(closed.text, "Undo: open the reservation again"))
    reason = reopened.partition("The reservation 1 stays closed: since then ")[2]
    assert told in reason
    removed = browser.follow(step(added.text, "Undo: remove the animal"))
    assert " stays: since then " in removed
    assert Pet.get_own(project.id, 1)


@of_both_engines
def test_an_animal_is_as_it_was_added_until_somebody_writes_it(
    browser: Browser, project: Project, key: str
):
    page = browser.get(browser.submit(ANIMALS, **REX).location).text
    Pet.correct(project.id, 1, name="Rexy")
    undo = step(page, "Undo: remove the animal")
    told = f"Rexy stays: since then the key {key[:16]} corrected Rexy."
    assert told in browser.follow(undo)
    assert "Removed Rexy (no. 1)." in browser.follow(f"{ANIMALS}/1/withdraw")


@of_both_engines
def test_a_notice_takes_back_only_the_closing_that_it_tells_of(
    browser: Browser, project: Project, key: str
):
    Order.place(project.id, add_pet(project, "Tom"))
    page = browser.get(browser.submit(f"{ORDERS}/1/cancel").location).text
    reopen(project.id, 1, None)
    browser.submit(f"{ORDERS}/1/complete")
    said = browser.follow(step(page, "Undo: open the reservation again"))
    assert "The reservation 1 stays closed:" in said
    assert f"the key {key[:16]} has closed it again." in said
    assert "is open again" in browser.follow(f"{ORDERS}/1/reopen")


@of_both_engines
def test_who_removed_the_animal_of_a_closed_order_is_said(
    browser: Browser, project: Project, key: str
):
    Order.place(project.id, add_pet(project, "Tom"))
    browser.submit(f"{ORDERS}/1/cancel")
    browser.submit(f"{ANIMALS}/1/withdraw")
    said = browser.follow(f"{ORDERS}/1/reopen")
    assert "The reservation 1 stays closed: somebody has removed the animal." in said
    assert f"Removed Tom (no. 1). This was done by the key {key[:16]}." in said


@of_both_engines
def test_what_an_earlier_release_has_closed_stays_closed(
    browser: Browser, project: Project
):
    Order.place(project.id, add_pet(project, "Tom"))
    db.execute_sql("UPDATE pet_order SET status = 'cancelled'")
    db.execute_sql("UPDATE pet SET status = 'available'")
    assert "a release that did not keep" in browser.follow(f"{ORDERS}/1/reopen")


def test_who_removed_an_animal_is_said_and_the_text_stays(
    app: Flask, browser: Browser, project: Project, key: str, rival: Project
):
    browser.submit(ANIMALS, **REX)
    browser.submit(f"{ANIMALS}/1/withdraw")
    answer = browser.submit(f"{ANIMALS}/1", name="Rex the Second", status="sold")
    assert answer.status_code == 404
    by = f"This was done by {key[:16]} (you) , 17 Mar 2027 12:00 UTC ."
    assert f"Removed Rex (no. 1). {by}" in words(answer)
    assert "This is what you typed: Rex the Second Adopted" in words(answer)
    foreign = Browser(app, Key.issue(rival)).read(f"{ANIMALS}/1")
    assert "Removed Rex" not in foreign
    add_pet(project, "Tom")
    withdraw_pet(project.id, 2)  # by a program
    assert "This was done by" not in browser.read(f"{ANIMALS}/2")
