"""/dashboard/animals/{id}: an animal corrected, ordered and withdrawn."""

import re
from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from petstore.models.categories import Category
from petstore.models.keys import Key
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Project
from tests.harness.browser import Browser, add_pet, words
from tests.harness.clocks import Clock
from tests.harness.databases import of_both_engines

ANIMAL = "/dashboard/animals/1"
ORDERS = "/dashboard/orders"
REX = {"name": "Rex", "categoryId": "7"}


@pytest.fixture(autouse=True)
def rex(project: Project) -> None:
    """An animal that is available."""
    add_pet(project, "Rex")


def test_an_animal_is_shown_with_its_orders(browser: Browser, project: Project):
    assert "Rex" in browser.read("/dashboard/animals")
    page = browser.read(ANIMAL)
    assert "Id 1 Category Category 7 Status Available" in page
    assert "Nobody has ordered it yet." in page
    Order.change(
        project.id, Order.place(project.id, 1, "Ms Lovelace").id, status="completed"
    )
    page = browser.read(ANIMAL)
    assert "Status Sold" in page
    assert "1 Ms Lovelace 17 Mar 2027 12:00 UTC Completed" in page
    assert "Take it back" in page


@of_both_engines
def test_an_animal_is_corrected_as_over_the_api(browser: Browser, client: FlaskClient):
    fields = {"name": "Max", "categoryId": "Dogs"}
    assert "Max is saved. It is available." in browser.follow(ANIMAL, **fields)
    assert client.get("/v1/pets/1").json["name"] == "Max"
    assert client.get("/v1/categories").json[1] == {"id": 8, "name": "Dogs"}


@of_both_engines
@pytest.mark.parametrize(
    ("fields", "corrected"),
    [
        ({"name": "Max"}, ("Max", 8, "sold")),
        ({"categoryId": "dogs "}, ("Tom", 9, "sold")),
        ({"status": "available"}, ("Tom", 8, "available")),
        ({}, ("Tom", 8, "sold")),
    ],
)
def test_only_what_somebody_has_changed_is_written(
    browser: Browser, project: Project, fields: dict[str, str], corrected: tuple
):
    Category.rename(project.id, 9, "Dogs")
    shown = REX | {"status": "available"}
    sent = shown | {f"shown.{name}": text for name, text in shown.items()}
    # Meanwhile somebody else corrects everything.
    Pet.correct(project.id, 1, name="Tom", category_id=8, status="sold")
    fields = fields | ({"shown.status": "x"} if "status" in fields else {})
    browser.submit(ANIMAL, **sent | fields)
    assert Pet.find(project.id, 1)[1:4] == corrected


def test_a_returned_animal_is_taken_back(browser: Browser, project: Project):
    order = Order.place(project.id, 1)
    assert 'name="status"' not in browser.get(ANIMAL).text  # that is the order's
    Order.change(project.id, order.id, status="completed")
    for status, button in (("sold", "Take it back"), ("pending", "Make it available")):
        Pet.correct(project.id, 1, status=status)
        assert f"{button} Orders" in browser.read(ANIMAL)
        assert "Rex is saved. It is available." in browser.follow(
            ANIMAL, status="available"
        )


@pytest.mark.parametrize(
    "category", ["12", "#12", "0012", "Category 12", "Dogs #7", " Dogs ", "Room 12"]
)
def test_correcting_the_name_keeps_the_category_whatever_that_is_named(
    browser: Browser, project: Project, category: str
):
    for number, name in ((7, "Dogs"), (9, category), (12, None)):
        Category.rename(project.id, number, name)
    pet_id = add_pet(project, "Tom", category_id=9)
    page = f"/dashboard/animals/{pet_id}"
    form = browser.get(page).text.partition('id="correct"')[2]
    [shown] = re.findall('name="categoryId"[^>]* value="([^"]*)"', form)
    answer = browser.submit(page, name="Max", categoryId=shown)
    assert answer.status_code == 303
    assert Pet.find(project.id, pet_id)[1:3] == ("Max", 9)


@pytest.mark.parametrize(
    ("field", "text", "fault"),
    [
        ("name", " ", "Name is required."),
        ("categoryId", "", "Category is required."),
        ("categoryId", "9" * 40, "Category must be an integer from 0 to"),
    ],
)
def test_a_wrong_correction_is_shown_with_its_fault(
    browser: Browser, project: Project, field: str, text: str, fault: str
):
    answer = browser.submit(ANIMAL, **REX | {"name": "Max", field: text})
    assert answer.status_code == 400
    assert fault in words(answer)
    assert Pet.find(project.id, 1).name == "Rex"


def test_a_correction_does_not_choose_between_two_categories_of_one_name(
    browser: Browser, project: Project
):
    for number in (8, 9):
        Category.rename(project.id, number, "Dogs")
    answer = browser.submit(ANIMAL, name="Max", categoryId="Dogs")
    assert answer.status_code == 400
    assert "is the name of two categories: choose Dogs #8 or Dogs #9" in words(answer)
    assert Pet.find(project.id, 1)[1:3] == ("Rex", 7)


@of_both_engines
def test_a_correction_of_a_withdrawn_animal_adds_no_category(
    browser: Browser, project: Project
):
    Pet.withdraw(project.id, 1)
    correction = {"name": "Max", "categoryId": "Dogs"}
    assert browser.submit(ANIMAL, **correction).status_code == 404
    assert Category.ids_named(project.id, "Dogs") == []


@of_both_engines
def test_an_animal_is_ordered_with_a_reference(browser: Browser, client: FlaskClient):
    said = browser.follow(f"{ANIMAL}/order", reference="Ms Lovelace")
    assert "The order 1 is placed; its animal is pending." in said
    assert "Ms Lovelace" in said
    assert client.get("/v1/store/orders/1").json["reference"] == "Ms Lovelace"
    assert client.get("/v1/pets/1").json["status"] == "pending"


def test_an_order_closed_on_the_page_of_its_animal_leads_back_there(
    browser: Browser, project: Project
):
    Order.place(project.id, 1)
    for _ in range(2):  # at a double click, the second answer says the same
        fields = {"on": "animal", "idempotency_key": "once"}
        answer = browser.submit(f"{ORDERS}/1/cancel", **fields)
        assert answer.location == ANIMAL
        assert "The order 1 is cancelled; its animal is" in browser.read(ANIMAL)


def test_an_animal_names_the_keys_that_added_and_changed_it(
    browser: Browser, client_of: Callable, project: Project, key: str, clock: Clock
):
    staff = Key.issue(project, label="Front desk")
    pet = client_of(staff).post("/v1/pets", json={"name": "Tom", "categoryId": 7}).json
    page = f"/dashboard/animals/{pet['id']}"
    added = f"Added 17 Mar 2027 12:00 UTC by Front desk {staff[:16]}"
    assert added in browser.read(page)
    assert "Changed" not in browser.read(page)
    clock.move(seconds=60)
    client_of(key).patch(f"/v1/pets/{pet['id']}", json={"name": "Max"})
    changed = f"Changed 17 Mar 2027 12:01 UTC by {key[:16]} This session"
    assert f"{added} {changed}" in browser.read(page)


@of_both_engines
def test_a_withdrawn_animal_is_gone_and_its_orders_stay(
    browser: Browser, client: FlaskClient, project: Project
):
    Order.change(
        project.id, Order.place(project.id, 1, "Ms Lovelace").id, status="cancelled"
    )
    said = browser.follow(f"{ANIMAL}/withdraw")
    assert "Rex (#1) is withdrawn." in said
    assert browser.get(ANIMAL).status_code == 404
    assert client.get("/v1/pets").json == []
    for search in ("", "?name=lovelace", "?name=%231"):
        assert "Withdrawn #1 Ms Lovelace" in browser.read(f"{ORDERS}{search}")


@pytest.mark.parametrize("deed", ["order", "withdraw"])
def test_what_somebody_has_ordered_before_is_not_available(
    browser: Browser, project: Project, deed: str
):
    Order.place(project.id, 1)
    assert "The animal 1 has the open order 1" in browser.follow(f"{ANIMAL}/{deed}")
    assert Order.page(project.id, after=1, limit=1) == []


@pytest.mark.parametrize("deed", ["order", "withdraw"])
def test_what_somebody_has_withdrawn_before_is_not_found(
    browser: Browser, project: Project, deed: str
):
    Pet.withdraw(project.id, 1)
    assert browser.submit(f"{ANIMAL}/{deed}").status_code == 404
    assert Order.page(project.id, after=0, limit=1) == []


@pytest.mark.parametrize("form", ["", "/order", "/withdraw"])
def test_an_animal_of_another_project_is_not_found(
    browser: Browser, rival: Project, form: str
):
    path = f"/dashboard/animals/{add_pet(rival, 'Spot')}"
    assert browser.get(path).status_code == 404
    assert browser.submit(f"{path}{form}", **REX).status_code in (400, 404)
    assert Pet.page(rival.id, after=0, limit=9)[0].status == "available"
