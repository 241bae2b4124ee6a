"""Installations and hosts that count in one Redis, and a database that is away."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from petstore.models.projects import Plan
from tests.faults.conftest import Serve
from tests.harness.clients import PETS, Client
from tests.harness.clusters import Server
from tests.harness.postgres import Postgres, postgres
from tests.harness.services import Service, issue_key
from tests.harness.waiting import wait_until

LIMIT = 10


@pytest.fixture
def server() -> Iterator[Postgres]:
    with postgres() as server:
        yield server


def served(service: Service, key: str) -> int:
    """Send a request, and return how many the minute has seen."""
    with Client(service.url, key) as client:
        return LIMIT - int(client.get(PETS).headers["X-RateLimit-Remaining"])


def test_installations_count_apart_and_hosts_of_one_together(
    serve: Serve, redis: Server, new_database: Callable[[str], str]
):
    urls = [new_database("sqlite"), new_database("postgresql")]
    plan = Plan("enterprise", LIMIT, LIMIT)
    keys = [issue_key({"DATABASE_URL": url}, plan) for url in urls]
    settings = [{"DATABASE_URL": url, "REDIS_URL": redis.url} for url in urls]
    one, other = (serve(key=key, **s) for key, s in zip(keys, settings, strict=True))
    host = serve(key=keys[1], **settings[1])
    assert [served(one, keys[0]) for _ in range(2)] == [1, 2]
    assert [served(other, keys[1]), served(host, keys[1])] == [1, 2]


def test_workers_that_start_without_the_database_count_as_soon_as_it_is_back(
    serve: Serve, redis: Server, server: Postgres, tmp_path: Path
):
    service = serve(DATABASE_URL=server.url, REDIS_URL=redis.url, WEB_CONCURRENCY="1")
    assert service.send().status == 200
    server.stop("fast")
    [worker] = service.workers
    worker.kill()
    service.gunicorn.wait_for_workers(1, without=[worker])
    with Client(service.url, "") as stranger:
        assert stranger.get(PETS).status == 401
        assert stranger.get(PETS).headers["X-RateLimit-Remaining"] == "58"
    assert service.counters == "degraded"
    server.start()
    wait_until(lambda: service.counters == "ok")
    assert service.send().status == 200
    assert service.events("counters_")[0]["event"] == "counters_lost"
