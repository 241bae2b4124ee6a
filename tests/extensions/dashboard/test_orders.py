"""/dashboard/orders: filters, and orders closed, corrected and deleted."""

from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient

from petstore.models.keys import Key
from petstore.models.orders import Order, withdraw_pet
from petstore.models.projects import Project
from tests.harness.browser import Browser, add_pet
from tests.harness.databases import of_both_engines

ORDERS = "/dashboard/orders"


@pytest.fixture(autouse=True)
def orders(project: Project) -> None:
    """Four orders; the first is completed and the second cancelled."""
    for n in range(4):
        Order.place(project.id, add_pet(project, f"Pet {n}."))
    Order.change(project.id, 1, status="completed")
    Order.change(project.id, 2, status="cancelled")


def test_orders_are_shown_with_their_animals_and_filtered(browser: Browser):
    text = browser.read(ORDERS)
    assert "All Open 2 Adopted 1 Cancelled 1" in text
    assert "Pet 0. no. 1 17 Mar 2027 12:00 UTC Adopted" in text
    assert "Pet 2. no. 3 17 Mar 2027 12:00 UTC Open Adopted reservation 3" in text
    text = browser.read(f"{ORDERS}?status=cancelled")
    assert "1 reservation found" in text
    assert "Pet 1." in text
    assert "Pet 0." not in text


@of_both_engines
def test_orders_are_found_by_reference_and_animal(browser: Browser, project: Project):
    Order.place(project.id, add_pet(project, "Ömer"), "Ms Lovelace, 555-0100")
    for search in ("lovelace", "ÖMER+555", "%235"):
        assert "1 reservation found" in browser.read(f"{ORDERS}?name={search}")
    assert "4 reservations found" in browser.read(f"{ORDERS}?name=pet")
    assert "2 reservations found" in browser.read(f"{ORDERS}?name=pet&status=placed")
    assert "No reservation matches Show all reservations" in browser.read(
        f"{ORDERS}?name=nobody"
    )


@of_both_engines
def test_an_order_is_closed_as_over_the_api(browser: Browser, client: FlaskClient):
    query = "?status=placed&after=20"
    for number, deed, said, order, pet in (
        (3, "complete", "Pet 2. is adopted", "completed", "sold"),
        (4, "cancel", "Pet 3. is available again", "cancelled", "available"),
    ):
        answer = browser.submit(f"{ORDERS}/{number}/{deed}{query}")
        assert answer.location == f"{ORDERS}{query}"
        told = f"{said} (reservation {number})."
        assert told in browser.read(answer.location)
        assert client.get(f"/v1/store/orders/{number}").json["status"] == order
        assert client.get(f"/v1/pets/{number}").json["status"] == pet


@of_both_engines
def test_an_order_names_the_keys_that_placed_and_closed_it_as_they_were_then(
    browser: Browser, client_of: Callable, project: Project, key: str
):
    desk, tom = Key.issue(project, label="Front desk"), add_pet(project, "Tom")
    order = client_of(desk).post("/v1/store/orders", json={"petId": tom}).json
    Key.update(label="Till").where(Key.prefix == desk[:16]).execute()
    page = f"{ORDERS}/{order['id']}"
    assert "Reserved 17 Mar 2027 12:00 UTC by Front desk" in browser.read(page)
    placed = "Reserved since 17 Mar 2027 12:00 UTC by Front desk"
    assert placed in browser.read(f"/dashboard/animals/{tom}")
    browser.submit(f"{page}/complete")
    assert f"Closed by {key[:16]} (you)" in browser.read(page)
    assert "Closed by" not in browser.follow(f"{page}/reopen")


@of_both_engines
def test_orders_keep_the_name_of_a_withdrawn_animal(browser: Browser, project: Project):
    Order.change(project.id, Order.place(project.id, 2).id, status="completed")
    for pet_id, order_ids in ((1, "1"), (2, "52")):
        withdraw_pet(project.id, pet_id)
        name = f"Pet {pet_id - 1}."
        for path in (*(f"/{each}" for each in order_ids), "", f"?name={name}"):
            kept = browser.read(f"{ORDERS}{path}").count(
                f"{name} no. {pet_id}, removed"
            )
            assert kept == (1 if path.startswith("/") else len(order_ids))
    csv = browser.get("/dashboard/orders.csv").text
    for line in ("1,1,Pet 0.,completed", "2,2,Pet 1.,cancelled", "3,3,Pet 2.,placed"):
        assert line in csv


def test_reference_is_corrected_and_erased(browser: Browser, project: Project):
    for order_id in (1, 3):  # a closed and an open one
        page = f"{ORDERS}/{order_id}"
        for shown, text in (("", "Ms Hopper"), ("Ms Hopper", " ")):
            fields = {"reference": text, "shown.reference": shown}
            said = browser.follow(page, **fields)
            assert f"Saved reservation {order_id}." in said
            found = Order.get_own(project.id, order_id).reference
            assert found == (text.strip() or None)
        Order.change(project.id, order_id, reference="Ada")
        browser.submit(page, **fields | {"shown.reference": " "})  # as it was shown
        assert Order.get_own(project.id, order_id).reference == "Ada"


def test_old_page_is_harmless(app: Flask, browser: Browser, key: str, project: Project):
    answer = browser.submit(f"{ORDERS}/3/complete?status=lost")
    assert answer.status_code == 400
    assert Order.get_own(project.id, 3).status == "placed"
    Browser(app, key).submit(f"{ORDERS}/3/cancel")
    said = browser.follow(f"{ORDERS}/3/complete")
    assert "The reservation 3 is cancelled already" in said
    assert Order.get_own(project.id, 3).status == "cancelled"
    assert browser.submit(f"{ORDERS}/26/complete").status_code == 404
