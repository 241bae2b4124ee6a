"""How many database statements each operation executes."""

from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

from petstore.models import flush_queues
from petstore.models.credentials import new_key
from petstore.models.pets import Pet
from petstore.models.projects import Project
from petstore.storage.postgresql import PooledConnection
from tests.core.api.conftest import REX
from tests.harness import statements
from tests.harness.clients import ORDERS

# What each request with a key executes: the look-up of the key, and the count.
ADMITTED = 2


@pytest.fixture(autouse=True)
def settled(client: FlaskClient, stranger: FlaskClient, project: Project) -> None:
    """Insert thirty pets and execute what only the first request of a day needs."""
    row = {"project": project, "name": "Rex", "category_id": 7, "status": "sold"}
    Pet.insert_many([row] * 30).execute()
    client.post("/v1/pets", json=REX)
    stranger.get("/v1/pets")
    flush_queues()


def cost_of(client: FlaskClient, path: str) -> int:
    """Return the number of statements of a request."""
    with statements.recorded() as seen:
        client.get(path)
    return len(seen)


def test_refused_request_takes_no_further_statement(
    client: FlaskClient, stranger: FlaskClient, client_of: Callable, key: str
):
    for path in ("/v1/pets?limit=0", "/v1/nowhere"):
        assert cost_of(client, path) == ADMITTED
    mistyped = new_key()[:-6] + key[-6:]
    for refused, count in (
        (stranger, 1),
        (client_of(mistyped), 1),
        (client_of(new_key()), ADMITTED),
    ):
        assert cost_of(refused, "/v1/pets") == count


@pytest.fixture
def round_trips(monkeypatch: pytest.MonkeyPatch) -> list[PooledConnection]:
    """The connection of each round trip to PostgreSQL: statements, BEGIN, COMMIT."""
    seen: list[PooledConnection] = []

    def wait(self: PooledConnection, *arguments: Any) -> Any:
        seen.append(self)
        return wait_for_server(self, *arguments)

    wait_for_server = PooledConnection.wait
    monkeypatch.setattr(PooledConnection, "wait", wait)
    return seen


ONCE, AGAIN = {"Idempotency-Key": "once"}, {"Idempotency-Key": "again"}
CATS = {"name": "Cats"}
# How many round trips each request takes; docs/scaling.md tells some of them.
ROUND_TRIPS: list[tuple] = [
    (1, "DELETE", "/v1/pets"),
    (2, "GET", "/v1/pets"),
    (2, "POST", "/v1/pets", REX),
    (7, "POST", "/v1/pets", REX | {"categoryId": 8}),
    (4, "PATCH", "/v1/pets/1", {"name": "Max"}),
    (7, "DELETE", "/v1/pets/33"),
    (6, "POST", ORDERS, {"petId": 34}),
    (5, "PATCH", f"{ORDERS}/1", {"status": "completed"}),
    (5, "PUT", "/v1/categories/7", CATS),
    (5, "PUT", "/v1/categories/9", CATS),
    (6, "POST", "/v1/pets", REX, ONCE),
    (11, "POST", "/v1/pets", REX | {"categoryId": 10}, AGAIN),
    (4, "POST", "/v1/pets", REX, ONCE),
]


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_each_request_takes_few_round_trips(
    client: FlaskClient, round_trips: list[PooledConnection]
):
    for _ in range(3):
        client.post("/v1/pets", json=REX)
    client.post(ORDERS, json={"petId": 31})
    sent = []
    for _, method, path, *more in ROUND_TRIPS:
        round_trips.clear()
        body, headers = (*more, None, None)[:2]
        client.open(path, method=method, json=body, headers=headers)
        sent.append(len(round_trips) - 1)  # what counts the request goes to Redis
    assert sent == [count for count, *_ in ROUND_TRIPS]
