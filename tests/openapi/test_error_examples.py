"""The messages in the interface description are those that the service sends."""

import re

import pytest
from flask.testing import FlaskClient

from petstore.api.pets import GET_PET_REMOVED_MS
from petstore.errors import EXAMPLES
from petstore.models.projects import Plan, Project
from tests.harness.clocks import Clock

PET = {"name": "Rex", "categoryId": 7}
ORDERS = "/v1/store/orders"


def require_example(error: dict[str, str]) -> None:
    """Check that the message is the example of its code, apart from the numbers."""
    said, shown = error["message"], EXAMPLES[error["code"]]
    assert re.sub("[0-9]+", "0", said) == re.sub("[0-9]+", "0", shown)


@pytest.mark.parametrize(
    ("method", "path", "options"),
    [
        ("POST", "/v1/pets", {"json": {"name": ""}}),
        ("POST", "/v1/pets", {"json": {"name": "x" * 65_536}}),
        ("POST", "/v1/pets", {"data": "name=Rex"}),
        ("PUT", "/v1/pets", {}),
        ("GET", "/v1/pets/42", {}),
        ("GET", "/v1/pets", {"headers": {"Authorization": ""}}),
        ("GET", "/v1/pets", {"headers": {"Authorization": "Bearer x"}}),
    ],
)
def test_examples_are_the_messages_of_refused_requests(
    client: FlaskClient, method: str, path: str, options: dict
):
    require_example(client.open(path, method=method, **options).json)


def test_examples_are_the_messages_of_conflicts(client: FlaskClient):
    client.post("/v1/pets", json=PET)
    client.post(ORDERS, json={"petId": 1})
    require_example(client.post(ORDERS, json={"petId": 1}).json)
    client.patch(f"{ORDERS}/1", json={"status": "completed"})
    require_example(client.patch(f"{ORDERS}/1", json={"status": "cancelled"}).json)


def test_example_is_the_message_of_a_key_used_with_another_body(client: FlaskClient):
    headers = {"Idempotency-Key": "k"}
    for name in ("Rex", "Tom"):
        answer = client.post("/v1/pets", json=PET | {"name": name}, headers=headers)
    require_example(answer.json)


def test_example_is_the_message_of_a_removed_operation(
    client: FlaskClient, clock: Clock
):
    clock.set_ms(GET_PET_REMOVED_MS)
    require_example(client.get("/v1/pets/42").json)


def test_example_is_the_message_at_the_limit(client: FlaskClient, project: Project):
    project.change_plan(Plan("free"))
    for _ in range(61):
        answer = client.get("/v1/pets")
    require_example(answer.json)
