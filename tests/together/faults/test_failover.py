"""Tests for connections that lead to the wrong server, or to none.

The URL of the database names a proxy in front of the server.
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
from tests.harness.patience import OF_STATEMENTS, PATIENT
from tests.harness.postgres import Postgres
from tests.harness.proxies import Proxy, proxy
from tests.harness.services import Service, serving
from tests.harness.waiting import wait_until

REX = {"name": "Rex", "categoryId": 7}
READ_SECONDS = 1.0
AGED_SECONDS = 0.5


@pytest.fixture(scope="module")
def name(server: Postgres) -> Iterator[Proxy]:
    """What the URL of the database names."""
    with proxy(server.port) as name:
        yield name


@pytest.fixture(scope="module")
def service_environ(server: Postgres, name: Proxy) -> dict[str, str]:
    return {"DATABASE_URL": server.url_at(name.port), "WEB_CONCURRENCY": "1"}


@contextmanager
def read_only(server: Postgres) -> Iterator[None]:
    """Let a server refuse writes, as a standby does, on open connections too."""
    with psycopg.connect(server.url, autocommit=True) as other:
        other.execute("ALTER SYSTEM SET default_transaction_read_only = on")
        other.execute("SELECT pg_reload_conf()")
        try:
            setting = "SHOW default_transaction_read_only"
            wait_until(lambda: server.ask(setting) == ("on",))
            yield
        finally:
            other.execute("SET default_transaction_read_only = off")
            other.execute("ALTER SYSTEM RESET default_transaction_read_only")
            other.execute("SELECT pg_reload_conf()")


def backends(server: Postgres) -> set[int]:
    """Return the processes of the server that serve others."""
    those = "client_port IS NOT NULL AND pid <> pg_backend_pid()"
    found = server.ask(f"SELECT array_agg(pid) FROM pg_stat_activity WHERE {those}")
    return set(found[0] or ())


def test_read_only_server_is_left_until_it_writes(service: Service, server: Postgres):
    assert service.send(body=REX).status == 201
    before = backends(server)
    with read_only(server):
        # Nothing but this error says that the connections lead to the wrong server.
        assert service.send(body=REX).outcome == "service_unavailable"
        wait_until(lambda: service.send("/readyz").status == 503)
        answers = [service.send(), service.send(body=REX)]
        assert service.send("/healthz").status == 200
        assert not before & backends(server)
    assert {answer.outcome for answer in answers} == {"service_unavailable"}
    wait_until(lambda: service.send(body=REX).status == 201)
    wait_until(lambda: service.send("/readyz").status == 200)


def test_each_connection_ends_after_some_time(
    service_environ: dict[str, str], server: Postgres, tmp_path: Path
):
    aging = replace(PATIENT, connection_seconds=AGED_SECONDS)
    others, seen = backends(server), set()
    with serving(tmp_path, service_environ, limits=aging) as service:

        def is_served_by_another() -> bool:
            assert service.send().is_served
            now = backends(server) - others
            seen.update(now)
            return bool(seen - now)

        wait_until(is_served_by_another)


def test_connections_that_a_firewall_forgot_fail_no_read(
    service_environ: dict[str, str], name: Proxy, tmp_path: Path
):
    limits = dict.fromkeys(OF_STATEMENTS, 2 * READ_SECONDS)
    names = ("lock_seconds", "replay_lock_seconds", "idle_statement_seconds")
    limits |= dict.fromkeys(names, READ_SECONDS) | {"idle_seconds": 0.0}
    hasty = replace(PATIENT, **limits)
    clients = range(LIMITS.connections)
    with serving(tmp_path, service_environ, limits=hasty) as service:
        at_once(lambda _: service.send(), [*clients] * 4)
        name.forget()
        again = at_once(lambda _: service.send(), clients)
        assert {answer.status for answer in again} == {200}
        answers = [service.send(body=REX) for _ in clients]
        assert {answer.status for answer in answers} == {201}
        assert median(answer.seconds for answer in answers) < READ_SECONDS
        name.cut()  # which ends the forgotten connections
