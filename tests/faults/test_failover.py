"""Tests for connections that lead to the wrong server, or to none.

The name of the database is a proxy, whose target a test moves.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median

import psycopg
import pytest

from petstore.timeouts import LIMITS
from tests.harness.crowds import at_once
from tests.harness.patience import PATIENT
from tests.harness.postgres import Postgres, postgres, standby_of
from tests.harness.proxies import Proxy, proxy
from tests.harness.services import Service, issue_key, serving
from tests.harness.waiting import wait_until

REX = {"name": "Rex", "categoryId": 7}
READ_SECONDS = 1.0
AGED_SECONDS = 0.5
AGING_USER = "aging"


@pytest.fixture(scope="module")
def primary() -> Iterator[Postgres]:
    with postgres() as primary:
        yield primary


@pytest.fixture(scope="module")
def standby(primary: Postgres) -> Iterator[Postgres]:
    with standby_of(primary) as standby:
        yield standby


@pytest.fixture(scope="module")
def name(primary: Postgres) -> Iterator[Proxy]:
    """What the URL of the database names."""
    with proxy(primary.port) as name:
        yield name


@pytest.fixture(scope="module")
def service_environ(primary: Postgres, name: Proxy) -> dict[str, str]:
    return {"DATABASE_URL": primary.url_at(name.port), "WEB_CONCURRENCY": "1"}


@contextmanager
def leading_to(name: Proxy, server: Postgres) -> Iterator[None]:
    """Let the name lead to another server, after its connections have broken."""
    before, name.target = name.target, server.port
    name.cut()
    try:
        yield
    finally:
        name.target = before


@contextmanager
def read_only(server: Postgres) -> Iterator[None]:
    with psycopg.connect(server.url, autocommit=True) as other:
        other.execute("ALTER SYSTEM SET default_transaction_read_only = on")
        other.execute("SELECT pg_reload_conf()")
        try:
            wait_until(lambda: is_read_only(server))
            yield
        finally:
            other.execute("SET default_transaction_read_only = off")
            other.execute("ALTER SYSTEM RESET default_transaction_read_only")
            other.execute("SELECT pg_reload_conf()")


def is_read_only(server: Postgres) -> bool:
    with psycopg.connect(server.url) as other:
        [setting] = other.execute("SHOW default_transaction_read_only").fetchone()
        return setting == "on"


def test_standby_serves_nobody_and_is_left_with_its_name(
    service: Service, name: Proxy, standby: Postgres
):
    assert service.send(body=REX).status == 201
    with leading_to(name, standby):
        wait_until(lambda: service.send("/readyz").status == 503)
        answers = [service.send(), service.send(body=REX)]
        assert service.send("/healthz").status == 200
    assert {answer.outcome for answer in answers} == {"service_unavailable"}
    wait_until(lambda: service.send(body=REX).status == 201)
    assert service.send("/readyz").status == 200


def test_writes_leave_a_read_only_server_when_the_name_leads_to_another(
    service: Service, primary: Postgres, name: Proxy, service_environ: dict[str, str]
):
    """Its connections stay open: nothing but an error says that it is the wrong one."""
    assert service.send(body=REX).status == 201
    with postgres() as other:
        moved = replace(service, key=issue_key({"DATABASE_URL": other.url}))
        with read_only(primary):
            name.target = other.port
            try:
                wait_until(lambda: moved.send(body=REX).status == 201)
                assert {moved.send(body=REX).status for _ in range(10)} == {201}
            finally:
                name.target = primary.port
                name.cut()


def test_each_connection_ends_after_some_time(
    service_environ: dict[str, str], primary: Postgres, tmp_path: Path
):
    aging = replace(PATIENT, connection_seconds=AGED_SECONDS)
    url = service_environ["DATABASE_URL"].replace("postgres:", f"{AGING_USER}:")
    with psycopg.connect(primary.url) as other:
        other.execute(f"CREATE USER {AGING_USER} SUPERUSER")
    with serving(tmp_path, {"DATABASE_URL": url}, limits=aging) as service:
        assert service.send(body=REX).status == 201
        own = backends(primary)
        assert own
        wait_until(lambda: service.send().is_served and not own & backends(primary))


def backends(server: Postgres) -> set[int]:
    """Return the processes of the server that serve the user of that test."""
    with psycopg.connect(server.url) as other:
        rows = other.execute(
            "SELECT pid FROM pg_stat_activity WHERE usename = %s", (AGING_USER,)
        )
        return {pid for (pid,) in rows}


def test_connections_that_a_firewall_forgot_fail_no_read(
    service_environ: dict[str, str], name: Proxy, tmp_path: Path
):
    hasty = replace(
        PATIENT,
        server_statement_seconds=2 * READ_SECONDS,
        idle_transaction_seconds=2 * READ_SECONDS,
        statement_seconds=2 * READ_SECONDS,
        lock_seconds=READ_SECONDS,
    )
    clients = range(LIMITS.connections)
    with serving(tmp_path, service_environ, limits=hasty) as service:
        at_once(lambda _: service.send(), [*clients] * 4)
        name.forget()
        assert {each.status for each in at_once(lambda _: service.send(), clients)} == {
            200
        }
        answers = [service.send(body=REX) for _ in clients]
        assert {answer.status for answer in answers} == {201}
        assert median(answer.seconds for answer in answers) < READ_SECONDS
