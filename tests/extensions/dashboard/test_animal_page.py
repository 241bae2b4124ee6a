"""/dashboard/animals/{id}: an animal corrected, ordered and withdrawn."""

import re
from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from petstore.extensions.dashboard.typed_names import ids_named
from petstore.models.categories import Category
from petstore.models.keys import Key
from petstore.models.orders import Order, withdraw_pet
from petstore.models.pets import Pet
from petstore.models.projects import Project
from tests.harness.browser import Browser, add_pet
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
    page = browser.read(ANIMAL)
    assert "Number 1 Category Category 7" in page
    assert "This animal has not been reserved yet." in page
    order = Order.place(project.id, 1, "Ms Lovelace")
    assert 'name="status"' not in browser.get(ANIMAL).text  # that is the order's
    Order.change(project.id, order.id, status="completed")
    page = browser.read(ANIMAL)
    assert "Rex Adopted Make available" in page
    assert "1 Ms Lovelace 17 Mar 2027 12:00 UTC Adopted" in page


def test_only_what_somebody_has_changed_is_written(browser: Browser, project: Project):
    Category.rename(project.id, 9, "Dogs")
    filled_in = REX | {"status": "available"}
    shown = {f"shown.{name}": text for name, text in filled_in.items()}
    for fields, corrected in (
        ({"name": "Max"}, ("Max", 8, "sold")),
        ({"categoryId": "dogs "}, ("Tom", 9, "sold")),
        ({"status": "available", "shown.status": "x"}, ("Tom", 8, "available")),
        ({}, ("Tom", 8, "sold")),
    ):
        # Meanwhile somebody else corrects everything.
        Pet.correct(project.id, 1, name="Tom", category_id=8, status="sold")
        browser.submit(ANIMAL, **filled_in | shown | fields)
        assert Pet.get_own(project.id, 1)[1:4] == corrected


def test_form_keeps_the_category_of_the_animal_where_there_are_many(
    browser: Browser, project: Project, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("petstore.extensions.dashboard.pets.OFFERED_CATEGORIES", 1)
    Category.ensure(project.id, 1)
    assert '<option value="7" selected>' in browser.get(ANIMAL).text


def test_a_returned_animal_is_taken_back(browser: Browser, project: Project):
    for status, told in (("sold", "has returned it"), ("pending", "nobody is named")):
        Pet.correct(project.id, 1, status=status)
        assert re.search(f"Make available .*{told}", browser.read(ANIMAL))
        said = browser.follow(ANIMAL, status="available")
        assert "Changed the status of Rex: " in said
        assert " → Available." in said


def test_correcting_the_name_keeps_any_category(browser: Browser, project: Project):
    for number, name in ((7, "Dogs"), (9, "Cats"), (12, None)):
        Category.rename(project.id, number, name)
    pet_id = add_pet(project, "Tom", category_id=9)
    page = f"/dashboard/animals/{pet_id}"
    for name in ("12", "#12", "Category 12", "Dogs (no. 7)", " Dogs "):
        Category.rename(project.id, 9, name)
        form = browser.get(page).text.partition('id="categoryId"')[2]
        [shown] = re.findall('value="([^"]*)" selected', form)[:1]
        assert browser.submit(page, name=name, categoryId=shown).status_code == 303
        assert Pet.get_own(project.id, pet_id)[1:3] == (name, 9)


def test_a_wrong_correction_is_shown_with_its_fault(browser: Browser, project: Project):
    for number in (8, 9):
        Category.rename(project.id, number, "Dogs")
    for field, text, fault in (
        ("name", " ", "Name is required."),
        ("categoryId", "", "Category is required."),
        ("categoryId", "9" * 40, "Category must be an integer from 0 to"),
        (
            "categoryId",
            "Dogs",
            "of two categories: choose Dogs (no. 8) or Dogs (no. 9)",
        ),
    ):
        assert fault in browser.follow(ANIMAL, **REX | {"name": "Max", field: text})
    assert Pet.get_own(project.id, 1)[1:3] == ("Rex", 7)


@of_both_engines
def test_lost_correction_adds_no_category(browser: Browser, project: Project):
    withdraw_pet(project.id, 1)
    correction = {"name": "Max", "categoryId": "Dogs"}
    assert browser.submit(ANIMAL, **correction).status_code == 404
    assert ids_named(project.id, "Dogs") == []


@of_both_engines
def test_an_animal_is_corrected_and_ordered(browser: Browser, client: FlaskClient):
    said = browser.follow(ANIMAL, name="Max", categoryId="Dogs")
    assert "Changed the name: Rex → Max. Changed the category of Max: " in said
    assert client.get("/v1/categories").json[1] == {"id": 8, "name": "Dogs"}
    said = browser.follow(f"{ANIMAL}/order", reference="Ms Lovelace")
    assert "Reserved Max (reservation 1)." in said
    assert client.get("/v1/store/orders/1").json["reference"] == "Ms Lovelace"
    max_now = {"id": 1, "name": "Max", "categoryId": 8, "status": "pending"}
    assert max_now.items() <= client.get("/v1/pets/1").json.items()


def test_closing_an_order_there_leads_back(browser: Browser, project: Project):
    Order.place(project.id, 1)
    for _ in range(2):  # at a double click, the second answer says the same
        fields = {"on": "animal", "idempotency_key": "once"}
        answer = browser.submit(f"{ORDERS}/1/cancel", **fields)
        assert answer.location == ANIMAL
        assert "Rex is available again (reservation 1)." in browser.read(ANIMAL)


def test_an_animal_names_the_keys_that_added_and_changed_it(
    browser: Browser, client_of: Callable, project: Project, key: str, clock: Clock
):
    staff = Key.issue(project, label="Front desk")
    pet = client_of(staff).post("/v1/pets", json={"name": "Tom", "categoryId": 7}).json
    page = f"/dashboard/animals/{pet['id']}"
    added = "Added 17 Mar 2027 12:00 UTC by Front desk"
    assert added in browser.read(page)
    assert "Changed" not in browser.read(page)
    clock.move(seconds=60)
    client_of(key).patch(f"/v1/pets/{pet['id']}", json={"name": "Max"})
    changed = f"Changed 17 Mar 2027 12:01 UTC by {key[:16]} (you)"
    assert f"{added} {changed}" in browser.read(page)


@of_both_engines
def test_orders_outlive_animal(browser: Browser, client: FlaskClient, project: Project):
    order = Order.place(project.id, 1, "Ms Lovelace")
    for deed in ("order", "withdraw"):
        said = browser.follow(f"{ANIMAL}/{deed}")
        assert "The animal 1 has the open reservation 1" in said
    Order.change(project.id, order.id, status="cancelled")
    assert "Removed Rex (no. 1)." in browser.follow(f"{ANIMAL}/withdraw")
    assert browser.get(ANIMAL).status_code == 404
    assert client.get("/v1/pets").json == []
    for search in ("", "?name=lovelace", "?name=%231"):
        assert "Rex no. 1, removed Ms Lovelace" in browser.read(f"{ORDERS}{search}")
    for deed in ("order", "withdraw"):
        assert browser.submit(f"{ANIMAL}/{deed}").status_code == 404
    assert len(Order.page(project.id, after=0, limit=9)) == 1
