"""Keys, animals, orders and category names of another project are not shown."""

import pytest
from flask.testing import FlaskClient

from petstore.models.keys import Key
from petstore.models.projects import Project
from tests.dashboard.browser import Browser, words


@pytest.fixture
def rival_pet(rival_client: FlaskClient) -> dict:
    """An animal of the rival project, with an order and a named category."""
    pet = rival_client.post("/v1/pets", json={"name": "Spot", "categoryId": 7}).json
    rival_client.post("/v1/store/orders", json={"petId": pet["id"]})
    rival_client.put("/v1/categories/7", json={"name": "Rival's dogs"})
    return pet


def test_key_of_another_project_is_not_found(browser: Browser, rival_key: Key):
    answer = browser.get(f"/dashboard/keys/{rival_key.prefix}")
    assert answer.status_code == 404
    assert "There is nothing here" in words(answer)


@pytest.mark.parametrize("deed", ["rotate", "revoke", "unban"])
def test_key_of_another_project_cannot_be_changed(
    browser: Browser, rival_key: Key, rival: Project, deed: str
):
    path = f"/dashboard/keys/{rival_key.prefix}/{deed}"
    assert browser.submit(path, on="/dashboard/keys").status_code == 404
    assert [key.state for key in Key.all_by_id(rival)] == ["active"]


def test_keys_of_another_project_are_not_listed(browser: Browser, rival_key: Key):
    assert rival_key.prefix not in browser.get("/dashboard/keys").text


def test_animals_and_orders_of_another_project_are_not_listed(
    browser: Browser, rival_pet: dict
):
    assert "There are no animals yet" in words(browser.get("/dashboard/animals"))
    assert "There are no orders yet" in words(browser.get("/dashboard/orders"))


def test_category_names_of_another_project_are_not_shown(
    browser: Browser, client: FlaskClient, rival_pet: dict
):
    client.post("/v1/pets", json={"name": "Rex", "categoryId": 7})
    assert "Rival" not in browser.get("/dashboard/animals").text
