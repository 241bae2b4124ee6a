"""Tests for more requests at once than the connections to PostgreSQL can serve.

A lock keeps all connections busy, so that everybody has to wait.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from petstore.timeouts import LIMITS, Limits
from tests.harness.patience import PATIENT
from tests.harness.postgres import Postgres
from tests.harness.services import Service
from tests.harness.waiting import wait_until
from tests.harness.wire import connected, get, post

QUEUE = 200
CROWD = QUEUE + 100
NEVER = 1e6  # seconds


@pytest.fixture(scope="module")
def limits() -> Limits:
    """A short queue, in which requests wait as long as a test wants."""
    return replace(
        PATIENT,
        queue_length=QUEUE,
        stalled_seconds=NEVER,
        queue_seconds=NEVER,
        statement_seconds=NEVER,
        stores_seconds=NEVER,
    )


@pytest.fixture(scope="module")
def service_environ(server: Postgres, redis_server: str) -> dict[str, str]:
    """Settings with which PostgreSQL serves reads alone."""
    urls = {"DATABASE_URL": server.url, "REDIS_URL": redis_server}
    return urls | {"WEB_CONCURRENCY": "1"}


@contextmanager
def locked(server: Postgres) -> Iterator[psycopg.Connection]:
    """Lock the keys, so that no key can be looked up until the rollback."""
    with psycopg.connect(server.url) as other:
        other.execute("LOCK TABLE api_key IN ACCESS EXCLUSIVE MODE")
        yield other
        other.rollback()


def wait_until_waiting(service: Service, locked: psycopg.Connection) -> None:
    """Wait until all connections wait for the lock, and all requests were read."""
    query = "SELECT count(*) FROM pg_locks WHERE NOT granted"
    wait_until(lambda: locked.execute(query).fetchone()[0] == LIMITS.connections)
    assert service.send("/healthz").status == 200


def answers(service: Service) -> list[dict[str, Any]]:
    """Return what the log says of all requests for animals so far."""
    lines = service.events("request")
    return [line for line in lines if line["path"] == "/v1/pets"]


def refused_creates(service: Service) -> int:
    """Return how many requests of its key have added no animal."""
    lines = [line for line in answers(service) if line["key"] == service.key[:16]]
    return sum(line["method"] == "POST" and line["status"] == 503 for line in lines)


def test_full_queue_is_a_503_at_once(service: Service, server: Postgres):
    before, crowd = len(answers(service)), [get(service.key)] * CROWD
    with locked(server), connected(service.url, *crowd):
        refused = CROWD - QUEUE - LIMITS.connections  # or more, while it connects
        wait_until(lambda: len(answers(service)) >= before + refused)
        assert {line["status"] for line in answers(service)[before:]} == {503}


def test_request_does_not_wait_when_its_client_has_gone(
    service: Service, server: Postgres
):
    before, crowd = len(answers(service)), [get(service.key)] * QUEUE
    with locked(server) as lock:
        with connected(service.url, *crowd):
            wait_until_waiting(service, lock)
            assert len(answers(service)) == before
        waited = QUEUE - LIMITS.connections
        wait_until(lambda: len(answers(service)) == before + waited)
        assert service.send("/healthz").status == 200
    wait_until(lambda: service.send().status == 200)
    assert not service.events("internal_error")


def test_animals_do_not_wait_together_when_their_clients_have_gone(
    service: Service, server: Postgres
):
    animal = {"name": "Kim", "categoryId": 1}
    assert service.send(body=animal).status == 201
    body = json.dumps(animal).encode()
    create = post(service.key, f"Content-Length: {len(body)}") + body
    left = service.send().day_left - QUEUE
    with psycopg.connect(server.url) as lock:
        lock.execute("LOCK TABLE pet IN EXCLUSIVE MODE")
        with connected(service.url, *[create] * QUEUE):
            wait_until(lambda: service.send().day_left < left)  # all are counted
        # All but one, which is alone in its transaction.
        wait_until(lambda: refused_creates(service) == QUEUE - 1)
        lock.rollback()
    assert service.send(body=animal).status == 201
    under_way = 1 + LIMITS.inserts
    assert len(service.send("/v1/pets?limit=100").json) <= 1 + under_way + 1
    assert not service.events("internal_error")


def test_crowd_of_one_key_keeps_nobody_waiting_behind_it(
    service: Service, rival: Service, server: Postgres
):
    before = len(answers(service))
    crowd = [get(service.key)] * (QUEUE - 1)
    with locked(server) as lock, connected(service.url, *crowd, get(rival.key)):
        wait_until_waiting(service, lock)
        lock.rollback()
        wait_until(lambda: len(answers(service)) == before + QUEUE)
    keys = [line["key"] for line in answers(service)[before:]]
    assert keys.index(rival.key[:16]) < QUEUE / 4
