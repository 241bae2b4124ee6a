"""createPet: POST /v1/pets (specification section 4.2)."""

from collections.abc import Callable

import psycopg
import pytest
from flask.testing import FlaskClient

from petstore import clock as service_clock
from petstore.models.pets import Pet
from petstore.models.projects import Project
from petstore.storage.engine import Locked
from tests.core.api.conftest import REX
from tests.harness.clocks import Clock
from tests.harness.databases import of_one_engine

REMOVAL_MS = service_clock.instant_ms(2030, 12, 5)


def test_created_pet_is_returned_with_its_id_and_location(client: FlaskClient):
    answer = client.post("/v1/pets", json=REX)
    assert (answer.status_code, answer.content_type) == (201, "application/json")
    assert answer.json == {"id": 1, "status": "available", **REX}
    assert answer.headers["Location"] == "/v1/pets/1"
    assert client.get("/v1/pets/1").json == answer.json


@of_one_engine
def test_location_is_a_list_query_once_get_pet_is_removed(
    client: FlaskClient, clock: Clock
):
    clock.set_ms(REMOVAL_MS - 1)
    assert client.post("/v1/pets", json=REX).headers["Location"] == "/v1/pets/1"
    clock.set_ms(REMOVAL_MS)
    answer = client.post("/v1/pets", json=REX)
    client.post("/v1/pets", json=REX)
    assert answer.headers["Location"] == "/v1/pets?after=1&limit=1"
    assert client.get(answer.headers["Location"]).json == [answer.json]


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
@pytest.mark.parametrize("category", [7, 8])  # one that exists, and a new one
@pytest.mark.parametrize(
    "held",
    [
        "SELECT * FROM project FOR UPDATE",
        # Its waiting writers are served in their order, unlike those of a row.
        "SELECT pg_advisory_xact_lock(id) FROM project",
    ],
)
def test_server_itself_ends_the_wait_for_other_writers_of_the_project(
    set_limits: Callable[..., None],
    project: Project,
    database_url: str,
    category: int,
    held: str,
):
    rex = {"name": "Rex", "status": "available"}
    Pet.add(project.id, category_id=7, **rex)
    set_limits(replay_lock_seconds=0.1, lock_seconds=0.1)
    with psycopg.connect(database_url) as other:
        other.execute(held)
        with pytest.raises(Locked):
            Pet.add(project.id, category_id=category, **rex)
