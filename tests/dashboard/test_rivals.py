"""What is another project's is not there."""

import pytest
from flask.testing import FlaskClient

from petstore.models.keys import Key
from petstore.models.projects import Project
from tests.dashboard.browser import Browser, words


@pytest.fixture
def rival_pet(rival_client: FlaskClient) -> dict:
    """An animal of the rival, which somebody has ordered."""
    pet = rival_client.post("/v1/pets", json={"name": "Spot", "categoryId": 7}).json
    rival_client.post("/v1/store/orders", json={"petId": pet["id"]})
    rival_client.put("/v1/categories/7", json={"name": "Rival's dogs"})
    return pet


def test_a_key_of_the_rival_is_not_found(browser: Browser, rival_key: Key):
    answer = browser.get(f"/dashboard/keys/{rival_key.prefix}")
    assert answer.status_code == 404
    assert "There is nothing here" in words(answer)


@pytest.mark.parametrize("deed", ["rotate", "revoke", "unban"])
def test_nothing_can_be_done_with_it(
    browser: Browser, rival_key: Key, rival: Project, deed: str
):
    path = f"/dashboard/keys/{rival_key.prefix}/{deed}"
    assert browser.submit(path, on="/dashboard/keys").status_code == 404
    assert [key.state for key in Key.all_by_id(rival)] == ["active"]


def test_it_is_not_listed(browser: Browser, rival_key: Key):
    assert rival_key.prefix not in browser.get("/dashboard/keys").text


def test_animals_and_orders_of_the_rival_are_not_listed(
    browser: Browser, rival_pet: dict
):
    assert "There are no animals yet" in words(browser.get("/dashboard/animals"))
    assert "There are no orders yet" in words(browser.get("/dashboard/orders"))


def test_a_category_has_the_name_that_its_own_project_gave_it(
    browser: Browser, client: FlaskClient, rival_pet: dict
):
    client.post("/v1/pets", json={"name": "Rex", "categoryId": 7})
    assert "Rival" not in browser.get("/dashboard/animals").text
