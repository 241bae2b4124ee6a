"""Tests for a PostgreSQL server that is down, hangs or holds locks.

A write that was answered with 503 is not applied later.
"""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import peewee
import psycopg
import pytest

from petstore.engines.postgresql import Postgresql
from tests import servers
from tests.clusters import until
from tests.faults.counting import countdown
from tests.services import Service, issue_key, serving
from tests.torture.postgres import Postgres, postgres
from tests.torture.proxies import Proxy, proxy

REX = {"name": "Rex", "categoryId": 7}
HANGS_SECONDS = 2  # the timeout of a statement
LOCK_SECONDS = 1.5


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with postgres() as server:
        yield server


@pytest.fixture(scope="module")
def network(server: Postgres) -> Iterator[Proxy]:
    with proxy(server.port) as network:
        yield network


@pytest.fixture(scope="module")
def environ(server: Postgres, network: Proxy) -> dict[str, str]:
    environ = {"DATABASE_URL": server.url_at(network.port), "WEB_CONCURRENCY": "1"}
    servers.flask(environ, "migrate").check_returncode()
    return environ


@pytest.fixture(scope="module")
def running(
    environ: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    with serving(tmp_path_factory.mktemp("service"), environ) as service:
        yield service


@pytest.fixture
def service(running: Service, environ: dict[str, str]) -> Service:
    """The service, with a key of a project without animals."""
    service = replace(running, key=issue_key(environ))
    assert service.ask().status == 200
    return service


@pytest.fixture
def rival(running: Service, environ: dict[str, str]) -> Service:
    """The same service, with a key of another project."""
    return replace(running, key=issue_key(environ))


def assert_recovers(service: Service) -> None:
    """Wait until the service recovers and check that no refused write was applied."""
    until(lambda: service.ask().status == 200)
    time.sleep(0.3)
    assert service.ask().json == []


def break_by(kind: str, stack: ExitStack, server: Postgres, network: Proxy) -> None:
    begin, end = {
        "hangs": (server.hang, server.go_on),
        "is cut off": (network.drop, network.restore),
        "is stopped": (lambda: server.stop("immediate"), server.start),
    }[kind]
    stack.callback(end)
    begin()


@pytest.mark.parametrize("kind", ["hangs", "is cut off", "is stopped"])
def test_unavailable_server_fails_fast_after_first_request(
    service: Service, server: Postgres, network: Proxy, kind: str
):
    with ExitStack() as stack:
        break_by(kind, stack, server, network)
        assert service.ask(body=REX).status == 503
        started = time.monotonic()
        assert [service.ask().status for _ in range(5)] == [503] * 5
        assert service.ask("/healthz").status == 200
        assert time.monotonic() - started < 5 * HANGS_SECONDS
    assert_recovers(service)


@pytest.mark.parametrize("kind", ["hangs", "is cut off"])
def test_concurrent_writes_in_an_outage_are_not_applied(
    service: Service, server: Postgres, network: Proxy, kind: str
):
    with ThreadPoolExecutor(8) as pool, ExitStack() as stack:
        break_by(kind, stack, server, network)
        asked = [pool.submit(service.ask, body=REX) for _ in range(8)]
        assert {each.result().status for each in asked} == {503}
    assert_recovers(service)


@contextmanager
def locked(server: Postgres, statement: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(server.url) as other:
        other.execute(statement)
        yield other
        other.rollback()


def test_write_waits_for_a_short_lock(service: Service, server: Postgres):
    with ThreadPoolExecutor(1) as pool:
        with locked(server, "LOCK TABLE pet IN ACCESS EXCLUSIVE MODE"):
            asked = pool.submit(service.ask, body=REX)
            time.sleep(0.5)
            assert not asked.done()
        assert asked.result().status == 201


@pytest.mark.parametrize(
    "lock",
    [
        "LOCK TABLE pet IN SHARE MODE",
        "SELECT pg_advisory_xact_lock(id) FROM project",
        "SELECT * FROM project FOR UPDATE",
    ],
)
def test_blocked_writers_do_not_block_other_requests(
    service: Service, rival: Service, server: Postgres, lock: str
):
    with ThreadPoolExecutor(40) as pool, locked(server, lock):
        asked = [pool.submit(service.ask, body=REX) for _ in range(40)]
        statuses = [rival.ask(path).status for path in ("/v1/pets", "/healthz")]
        assert not all(each.done() for each in asked)
        assert {each.result().status for each in asked} == {503}
    assert statuses == [200, 200]
    assert_recovers(service)


def test_locked_counter_refuses_its_project_alone(
    service: Service, rival: Service, server: Postgres
):
    with locked(server, 'SELECT * FROM "usage" FOR UPDATE'):
        assert service.ask().status == 503
        answers = [rival.ask() for _ in range(3)]
    left = [int(answer.headers["X-RateLimit-Remaining"]) for answer in answers]
    assert left == countdown(left)
    assert service.ask("/readyz").json["counters"] == "ok"


def test_write_without_prepared_statements_waits_as_long_for_a_lock(
    environ: dict[str, str], server: Postgres, tmp_path: Path
):
    environ = environ | {"PETSTORE_PREPARED_STATEMENTS": "0"}
    with serving(tmp_path, environ) as service:
        service = replace(service, key=issue_key(environ))
        with locked(server, "SELECT * FROM project FOR UPDATE"):
            started = time.monotonic()
            assert service.ask(body=REX).status == 503
            # The server has given up first, so it does not write later.
            assert LOCK_SECONDS <= time.monotonic() - started < HANGS_SECONDS
        assert_recovers(service)


@pytest.fixture
def database(server: Postgres) -> Iterator[Postgresql]:
    database = Postgresql(server.url, prepares_statements=True)
    yield database
    database.disconnect()


def test_idle_transactions_have_a_time_limit_on_the_server(database: Postgresql):
    [setting] = database.execute_sql("SHOW idle_in_transaction_session_timeout")
    assert setting == ("2s",)


def test_end_of_an_idle_transaction_is_an_outage(database: Postgresql):
    def idle() -> None:
        with database.atomic():
            database.execute_sql("SET LOCAL idle_in_transaction_session_timeout = 1")
            time.sleep(0.1)
            database.execute_sql("SELECT 1")

    with pytest.raises(peewee.PeeweeException) as caught:
        idle()
    assert database.is_outage(caught.value)


@pytest.mark.parametrize(
    ("setting", "default", "expected"),
    [
        ("client_encoding", "LATIN1", "UTF8"),
        ("default_transaction_isolation", "serializable", "read committed"),
    ],
)
def test_defaults_of_the_role_do_not_apply(
    database: Postgresql, server: Postgres, setting: str, default: str, expected: str
):
    with psycopg.connect(server.url, autocommit=True) as other:
        other.execute(f"ALTER ROLE CURRENT_USER SET {setting} = '{default}'")
        try:
            [found] = database.execute_sql(f"SHOW {setting}")
        finally:
            other.execute(f"ALTER ROLE CURRENT_USER RESET {setting}")
    assert found == (expected,)
