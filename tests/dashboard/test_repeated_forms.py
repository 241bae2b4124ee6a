"""A form that is sent twice does once what it is for."""

import re

import pytest
from flask.testing import FlaskClient

from petstore.models.categories import Category
from petstore.models.keys import Key
from petstore.models.orders import Order
from petstore.models.pets import PetTable
from petstore.models.projects import Project
from tests.harness.browser import Browser, add_pet
from tests.harness.databases import of_both_engines

ANIMALS, ANIMAL = "/dashboard/animals", "/dashboard/animals/1"
TOM = {"name": "Tom", "categoryId": "7", "status": "available"}


@of_both_engines
@pytest.mark.parametrize(
    ("page", "action", "fields", "said"),
    [
        (ANIMALS, "", TOM, "Tom is added, with the id 2."),
        ("{question}", "", {}, "1 animal is added."),
        (ANIMAL, "/order", {"reference": "Ms Lovelace"}, "The order 1 is placed"),
        (ANIMAL, "/withdraw", {}, "Rex (#1) is withdrawn."),
        ("/dashboard/categories", "", {"name": "Cats"}, "Cats is added"),
        ("/dashboard/categories", "/8/delete", {}, "The category 8 is deleted."),
        ("/dashboard/orders/1", "/delete", {}, "The order 1 is deleted."),
        ("/dashboard/keys", "?kind=staff", {}, "has issued this key"),
        ("/dashboard/keys/{key}", "/rotate", {}, "has issued this key"),
    ],
)
def test_a_form_that_is_sent_twice_does_it_once(
    browser: Browser,
    project: Project,
    key: str,
    page: str,
    action: str,
    fields: dict,
    said: str,
):
    add_pet(project, "Rex")
    Category.ensure(project.id, 8)
    if "orders" in page:
        Order.place(project.id, 1)
        Order.change(project.id, 1, status="cancelled")
    question = browser.upload("name,category\nTom,7\n").location
    page = page.format(key=key[:16], question=question)
    form = browser.get(page).text.partition(f'action="{page}{action}"')[2]
    token = re.search('name="idempotency_key" value="([^"]+)"', form)[1]
    rows = set()
    for _ in range(2):
        answer = browser.submit(page + action, idempotency_key=token, **fields)
        rows.add((PetTable.select().count(), Key.select().count()))
    assert len(rows) == 1
    assert said in browser.read(answer.location)


def test_a_form_that_was_filled_in_anew_after_going_back_is_another_one(
    browser: Browser, client: FlaskClient
):
    for name in ("Rex", "Tom", "Tom"):
        fields = TOM | {"name": name, "idempotency_key": "x"}
        assert f"{name} is added" in browser.follow(ANIMALS, **fields)
    assert [pet["name"] for pet in client.get("/v1/pets").json] == ["Rex", "Tom"]
