"""Installations and hosts that count in one Redis, and a database that is away."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from petstore.models.projects import Plan
from petstore.quotas.limiter import STRANGERS
from tests.harness.clients import Answer, Client
from tests.harness.clusters import Server
from tests.harness.crowds import are_counted
from tests.harness.postgres import Postgres
from tests.harness.services import Service, issue_key
from tests.harness.waiting import wait_until
from tests.together.faults.conftest import Serve

LIMIT = 10


def answers(*services: Service, key: str) -> list[Answer]:
    """Send a request to each service; return the responses."""
    return [replace(service, key=key).send() for service in services]


def test_installations_count_apart_and_hosts_of_one_together(
    serve: Serve, redis: Server, new_database: Callable[[str], str]
):
    urls = [new_database("sqlite"), new_database("postgresql")]
    plan = Plan("enterprise", LIMIT, LIMIT)
    keys = [issue_key({"DATABASE_URL": url}, plan) for url in urls]
    settings = [{"DATABASE_URL": url, "REDIS_URL": redis.url} for url in urls]
    one, other = (serve(key=key, **s) for key, s in zip(keys, settings, strict=True))
    host = serve(key=keys[1], **settings[1])
    assert are_counted(answers(one, one, key=keys[0]), LIMIT)
    assert are_counted(answers(other, host, key=keys[1]), LIMIT)


def test_workers_that_start_without_the_database_count_as_soon_as_it_is_back(
    serve: Serve, redis: Server, server: Postgres, tmp_path: Path
):
    service = serve(DATABASE_URL=server.url, REDIS_URL=redis.url)
    assert service.send().status == 200
    server.stop("fast")
    [worker] = service.workers
    worker.kill()
    service.gunicorn.wait_for_workers(1, without=[worker])
    with Client(service.url, "") as stranger:
        refused = [stranger.get() for _ in range(2)]
    assert {answer.status for answer in refused} == {401}
    assert are_counted(refused, STRANGERS.per_minute)
    assert service.counters == "unknown"
    server.start()
    wait_until(lambda: service.counters == "ok")
    assert service.send().status == 200
    assert not service.events("counters_")  # Redis was there
    [lost] = service.events("database_error")
    assert "Connection refused" in lost["reason"]
