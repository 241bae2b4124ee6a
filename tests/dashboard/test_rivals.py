"""Keys, animals, orders and category names of another project are not shown."""

import pytest
from flask.testing import FlaskClient

from petstore.models.keys import Key
from petstore.models.projects import Project
from tests.harness.browser import Browser, words


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
    assert rival_key.prefix not in browser.get("/dashboard/keys").text


@pytest.mark.parametrize("deed", ["", "/rotate", "/revoke", "/unban"])
def test_key_of_another_project_cannot_be_changed(
    browser: Browser, rival_key: Key, rival: Project, deed: str
):
    path = f"/dashboard/keys/{rival_key.prefix}{deed}"
    assert browser.submit(path).status_code == 404
    kept = [(key.state, key.label) for key in Key.all_by_id(rival)]
    assert kept == [("active", rival_key.label)]


@pytest.mark.usefixtures("rival_pet")
@pytest.mark.parametrize(
    "path",
    [
        *("animals", "orders", "categories", "animals?name=Spot", "animals?category=7"),
        *("animals?status=pending", "animals?last=1"),
    ],
)
def test_nothing_of_another_project_is_listed(browser: Browser, path: str):
    page = browser.read(f"/dashboard/{path}")
    assert "There are no" in page or "No animal matches" in page
    assert "Spot" not in page
    assert "Rival" not in page


@pytest.mark.usefixtures("rival_pet")
@pytest.mark.parametrize("deed", ["complete", "cancel"])
def test_order_of_another_project_cannot_be_closed(
    browser: Browser, rival_client: FlaskClient, deed: str
):
    [order] = rival_client.get("/v1/store/orders").json
    path = f"/dashboard/orders/{order['id']}/{deed}"
    assert browser.submit(path).status_code == 404
    assert rival_client.get("/v1/store/orders").json == [order]


@pytest.mark.usefixtures("rival_pet")
def test_category_names_of_another_project_are_not_shown(
    browser: Browser, client: FlaskClient
):
    client.post("/v1/pets", json={"name": "Rex", "categoryId": 7})
    assert "Rival" not in browser.get("/dashboard/animals").text
