"""/dashboard/orders: filters, and orders closed, corrected and deleted."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Project
from tests.harness.browser import Browser, add_pet
from tests.harness.databases import of_both_engines

ORDERS = "/dashboard/orders"


@pytest.fixture(autouse=True)
def orders(project: Project) -> None:
    """Three orders; the first is completed and the second cancelled."""
    for n in range(3):
        Order.place(project.id, add_pet(project, f"Pet {n}."))
    Order.change(project.id, 1, status="completed")
    Order.change(project.id, 2, status="cancelled")


def test_an_order_is_shown_with_its_animal(browser: Browser):
    text = browser.read(ORDERS)
    assert "All Placed 1 Completed 1 Cancelled 1" in text
    assert "Pet 0. #1 17 Mar 2027 12:00 UTC Completed" in text
    assert "Pet 2. #3 17 Mar 2027 12:00 UTC Placed Complete order 3" in text


def test_an_order_of_a_withdrawn_animal_is_shown_with_its_number(
    browser: Browser, project: Project
):
    Pet.withdraw(project.id, 2)
    assert "Withdrawn #2 17 Mar 2027" in browser.read(ORDERS)


def test_status_filters_the_list(browser: Browser):
    text = browser.read(f"{ORDERS}?status=cancelled")
    assert "1 order found" in text
    assert "Pet 1." in text
    assert "Pet 0." not in text


@of_both_engines
def test_orders_are_searched_by_reference_and_animal(
    browser: Browser, project: Project
):
    Order.place(project.id, add_pet(project, "Ömer"), "Ms Lovelace, 555-0100")
    for search in ("lovelace", "ÖMER+555", "%234"):
        assert "1 order found" in browser.read(f"{ORDERS}?name={search}")
    assert "3 orders found" in browser.read(f"{ORDERS}?name=pet")
    assert "1 order found" in browser.read(f"{ORDERS}?name=pet&status=placed")
    assert "No order matches Show all" in browser.read(f"{ORDERS}?name=nobody")


@of_both_engines
@pytest.mark.parametrize(
    ("deed", "said", "statuses"),
    [
        ("complete", "The order 3 is completed;", ("completed", "sold")),
        ("cancel", "its animal is available again.", ("cancelled", "available")),
    ],
)
def test_an_order_is_closed_as_over_the_api(
    browser: Browser, client: FlaskClient, deed: str, said: str, statuses: tuple
):
    query = "?status=placed&after=20"
    answer = browser.submit(f"{ORDERS}/3/{deed}{query}")
    assert answer.location == f"{ORDERS}{query}"
    assert said in browser.read(answer.location)
    order, pet = (client.get(f"/v1/{item}/3").json for item in ("store/orders", "pets"))
    assert (order["status"], pet["status"]) == statuses


@of_both_engines
@pytest.mark.parametrize("order_id", [1, 3])
def test_the_reference_of_an_order_is_corrected_and_erased(
    browser: Browser, project: Project, order_id: int
):
    page = f"{ORDERS}/{order_id}"
    for shown, text in (("", "Ms Hopper"), ("Ms Hopper", " ")):
        fields = {"reference": text, "shown.reference": shown}
        assert f"The reference of the order {order_id} is saved." in browser.follow(
            page, **fields
        )
        assert Order.find(project.id, order_id).reference == (text.strip() or None)
    Order.change(project.id, order_id, reference="Ada")
    browser.submit(page, **fields | {"shown.reference": " "})  # as it was shown
    assert Order.find(project.id, order_id).reference == "Ada"


@of_both_engines
def test_a_closed_order_is_deleted_and_an_open_one_is_not(
    browser: Browser, project: Project
):
    assert "The order 1 is deleted." in browser.follow(f"{ORDERS}/1/delete")
    assert browser.get(f"{ORDERS}/1").status_code == 404
    assert "The order 3 is open" in browser.follow(f"{ORDERS}/3/delete")
    assert Order.find(project.id, 3).status == "placed"


def test_a_page_that_is_out_of_date_changes_nothing(
    app: Flask, browser: Browser, key: str, project: Project
):
    Browser(app, key).submit(f"{ORDERS}/3/cancel")
    answer = browser.submit(f"{ORDERS}/3/complete")
    assert "The order 3 is cancelled already" in browser.read(answer.location)
    assert Order.find(project.id, 3).status == "cancelled"


def test_an_order_that_does_not_exist_is_not_found(browser: Browser):
    answer = browser.submit(f"{ORDERS}/26/complete")
    assert answer.status_code == 404


def test_an_order_is_not_closed_from_an_invalid_list(
    browser: Browser, project: Project
):
    answer = browser.submit(f"{ORDERS}/3/complete?status=lost")
    assert answer.status_code == 400
    assert Order.find(project.id, 3).status == "placed"
