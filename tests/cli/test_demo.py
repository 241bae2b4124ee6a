"""flask demo: a project to look at, on an empty database only."""

from collections.abc import Callable

from flask.testing import FlaskClient

from petstore.models.projects import Project
from tests.cli.outputs import printed, refusal


def test_key_of_the_demo_shows_animals_categories_and_an_order(
    flask: Callable, client_of: Callable[[str], FlaskClient]
):
    client = client_of(printed(flask("demo")))
    pets = client.get("/v1/pets").json
    assert len(pets) == 10
    assert {pet["status"] for pet in pets} == {"available", "pending"}
    categories = client.get("/v1/categories").json
    assert {each["id"] for each in categories} == {pet["categoryId"] for pet in pets}
    assert len([each["name"] for each in categories if each["name"]]) == 3
    orders = client.get("/v1/store/orders").json
    assert [order["status"] for order in orders] == ["placed"]


def test_database_with_a_project_is_left_alone(flask: Callable, project: Project):
    assert refusal(flask("demo")) == "The database has a project already."
    assert [each.slug for each in Project.all_by_slug()] == [project.slug]
