"""The database statements that each operation executes."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from petstore.api.last_used import last_used
from petstore.models.credentials import new_key
from petstore.models.pets import PetTable
from petstore.models.projects import Project
from tests import statements

LOOK_UP = "SELECT api_key project"
COUNT = "INSERT usage"
REX = {"name": "Rex", "categoryId": 7}


@pytest.fixture(autouse=True)
def settled(client: FlaskClient, stranger: FlaskClient, project: Project) -> None:
    """Insert thirty pets and execute what only the first request of a day needs."""
    row = {"project": project, "name": "Rex", "category_id": 7, "status": "sold"}
    PetTable.insert_many([row] * 30).execute()
    client.get("/v1/pets")
    stranger.get("/v1/pets")
    last_used.flush()


def cost_of(client: FlaskClient, method: str, path: str, **sent: object) -> list[str]:
    """Return the statements of a request, each as its verb and its tables."""
    with statements.recorded() as seen:
        client.open(path, method=method, **sent)
    return [statement.gist for statement in seen]


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    "path",
    [
        "/v1/pets",
        "/v1/pets?limit=100",
        "/v1/pets?limit=1&after=20",
        "/v1/pets?status=sold",
        "/v1/pets?status=pending",
        "/v1/pets/1",
        "/v1/pets/9999",
    ],
)
def test_read_takes_one_lookup_one_count_and_one_select(
    client: FlaskClient, method: str, path: str
):
    assert cost_of(client, method, path) == [LOOK_UP, COUNT, "SELECT pet"]


def test_creating_a_pet_takes_one_write(client: FlaskClient, database_url: str):
    write = "INSERT pet category"
    if database_url.startswith("postgresql"):
        write = "WITH turn category added pet added"
    client.post("/v1/pets", json=REX)
    assert cost_of(client, "POST", "/v1/pets", json=REX) == [LOOK_UP, COUNT, write]


def test_first_pet_of_a_category_also_writes_the_category(
    client: FlaskClient, database_url: str
):
    if database_url.startswith("postgresql"):
        writes = ["WITH turn category added pet added"]
    else:
        writes = ["INSERT pet category", "INSERT category", "INSERT pet category"]
    assert cost_of(client, "POST", "/v1/pets", json=REX) == [LOOK_UP, COUNT, *writes]


@pytest.mark.parametrize(
    ("times_before", "most", "most_with_locks"), [(0, 10, 9), (1, 5, 6)]
)
def test_idempotency_key_adds_only_a_few_statements(
    client: FlaskClient,
    database_url: str,
    times_before: int,
    most: int,
    most_with_locks: int,
):
    sent = {"json": REX, "headers": {"Idempotency-Key": "once"}}
    for _ in range(times_before):
        client.post("/v1/pets", **sent)
    cost = cost_of(client, "POST", "/v1/pets", **sent)
    is_locking = database_url.startswith("postgresql")
    assert len(cost) <= (most_with_locks if is_locking else most)


@pytest.mark.parametrize(
    ("method", "path", "sent"),
    [
        ("GET", "/v1/pets?limit=0", {}),
        ("POST", "/v1/pets", {"data": b"{"}),
        ("POST", "/v1/pets", {"json": {}}),
        ("DELETE", "/v1/pets", {}),
        ("GET", "/v1/nowhere", {}),
    ],
)
def test_refused_request_takes_only_lookup_and_count(
    client: FlaskClient, method: str, path: str, sent: dict
):
    assert cost_of(client, method, path, **sent) == [LOOK_UP, COUNT]


def test_request_without_a_key_is_only_counted(stranger: FlaskClient):
    assert cost_of(stranger, "GET", "/v1/pets") == [COUNT]


def test_request_with_a_mistyped_key_is_only_counted(client_of: Callable, key: str):
    client = client_of(new_key()[:-6] + key[-6:])
    assert cost_of(client, "GET", "/v1/pets") == [COUNT]


def test_unknown_key_takes_one_lookup_and_one_count(client_of: Callable):
    assert cost_of(client_of(new_key()), "GET", "/v1/pets") == [LOOK_UP, COUNT]
