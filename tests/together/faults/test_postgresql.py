"""Tests for a PostgreSQL server that is down, hangs or holds locks.

A write that was cancelled is not applied later.
"""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from itertools import permutations

import peewee
import psycopg
import pytest

from petstore.storage.postgresql import Postgresql
from petstore.timeouts import LIMITS, Limits
from tests.harness.crowds import going_on
from tests.harness.load import countdown, left_today
from tests.harness.patience import OF_STATEMENTS, PATIENT
from tests.harness.postgres import Postgres
from tests.harness.services import Service, issue_key
from tests.harness.waiting import wait_until

REX = {"name": "Rex", "categoryId": 7}
HANGS_SECONDS = 3.0  # the timeout of a statement
LOCK_SECONDS = 2.0
CLIENTS = 2 * LIMITS.running_requests


@pytest.fixture(scope="module")
def limits() -> Limits:
    """Limits that a server which is merely slow does not reach."""
    names = ("idle_transaction_seconds", "statement_seconds", "connect_seconds")
    hangs = dict.fromkeys(names, HANGS_SECONDS)
    locks = dict.fromkeys(("lock_seconds", "server_statement_seconds"), LOCK_SECONDS)
    return replace(PATIENT, **hangs | locks)


@pytest.fixture(scope="module")
def service_environ(server: Postgres) -> dict[str, str]:
    return {"DATABASE_URL": server.url, "WEB_CONCURRENCY": "1"}


def assert_recovers(service: Service) -> None:
    """Wait until the service recovers and check that no refused write was applied."""
    wait_until(lambda: service.send().status == 200)
    time.sleep(0.3)
    assert service.send().json == []


@pytest.mark.parametrize("kind", ["hangs", "is stopped"])
def test_server_that_is_away_fails_fast(service: Service, server: Postgres, kind: str):
    begin, end = {
        "hangs": (server.hang, server.go_on),
        "is stopped": (partial(server.stop, "immediate"), server.start),
    }[kind]
    with ThreadPoolExecutor(8) as pool, ExitStack() as stack:
        stack.callback(end)
        begin()
        pending = [pool.submit(service.send, body=REX) for _ in range(8)]
        assert {each.result().status for each in pending} == {503}
        answers = [service.send() for _ in range(5)]
        page = service.send("/dashboard/sign-in")
        assert service.send("/healthz").status == 200
    assert {answer.status for answer in answers} == {503}
    assert min(answer.seconds for answer in answers) < HANGS_SECONDS
    assert (page.status, page.headers["Retry-After"]) == (503, "1")
    assert b"The service does not answer at the moment" in page.content
    assert service.events("database_error")
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
            pending = pool.submit(service.send, body=REX)
            wait_until(lambda: waiting_for_locks(server))
            assert not pending.done()
        assert pending.result().status == 201


@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "once"}])
def test_animal_gets_its_id_when_all_before_it_are_committed(
    service: Service, server: Postgres, headers: dict[str, str]
):
    first = service.send(body=REX).json["id"]
    with ThreadPoolExecutor(1) as pool, psycopg.connect(server.url) as other:
        of_pet = "(SELECT project_id FROM pet WHERE id = %s)"
        other.execute(f"SELECT FROM project WHERE id = {of_pet} FOR UPDATE", [first])
        pending = pool.submit(service.send, body=REX, **headers)
        wait_until(lambda: waiting_for_locks(server))
        last = other.execute("SELECT last_value FROM pet_id_seq").fetchone()[0]
        other.commit()
        assert pending.result().status == 201
    assert last == first


@pytest.mark.parametrize(
    "lock",
    ["LOCK TABLE pet IN SHARE MODE", "SELECT * FROM project FOR UPDATE"],
)
def test_blocked_writers_do_not_block_other_requests(
    service: Service, rival: Service, server: Postgres, lock: str
):
    errors = service.events("database_error")
    with ThreadPoolExecutor(CLIENTS) as pool, locked(server, lock):
        pending = [pool.submit(service.send, body=REX) for _ in range(CLIENTS)]
        statuses = [rival.send(path).status for path in ("/v1/pets", "/healthz")]
        assert not all(each.done() for each in pending)
        assert {each.result().status for each in pending} == {503}
    assert statuses == [200, 200]
    assert service.events("database_busy")
    assert service.events("database_error") == errors
    assert_recovers(service)


CATEGORY = "/v1/categories/7"
DEEDS = {
    "add": {"method": "POST", "body": REX},
    "rename": {"method": "PUT", "path": CATEGORY, "body": {"name": "Dogs"}},
    "delete": {"method": "DELETE", "path": CATEGORY},
}


@pytest.mark.parametrize("pair", [*permutations(DEEDS, 2)])
def test_writers_of_a_category_never_wait_for_each_other(
    service: Service, server: Postgres, pair: tuple[str, str]
):
    service.send(CATEGORY, {"name": "Cats"}, method="PUT")
    with ThreadPoolExecutor(2) as pool:
        with locked(server, "SELECT * FROM project FOR UPDATE"):
            pending = []
            for name in pair:
                pending.append(pool.submit(service.send, **DEEDS[name]))
                wait_until(lambda: waiting_for_locks(server) == len(pending))
        outcomes = {each.result().outcome for each in pending}
    assert outcomes <= {200, 201, 204, "category_in_use"}


def test_locked_projects_leave_connections_to_others(
    service: Service, server: Postgres, service_environ: dict[str, str]
):
    closed = [replace(service, key=issue_key(service_environ)) for _ in range(3)]
    newest = "(SELECT id FROM project ORDER BY id DESC LIMIT 3)"
    lock = f"SELECT * FROM project WHERE id IN {newest} FOR UPDATE"
    refused = []

    def insist(project: Service, has_ended: threading.Event) -> None:
        while not has_ended.is_set():
            refused.append(project.send(body=REX).status)

    insisting = [partial(insist, project) for project in closed * 4]
    with locked(server, lock), going_on(*insisting):
        wait_until(lambda: waiting_for_locks(server) >= 2 * len(closed))
        answers = [service.send(), service.send(body=REX)]
    assert [answer.status for answer in answers] == [200, 201]
    assert set(refused) == {503}


def waiting_for_locks(server: Postgres) -> int:
    return server.ask("SELECT count(*) FROM pg_locks WHERE NOT granted")[0]


def test_locked_counter_refuses_its_project_alone(
    service: Service, rival: Service, server: Postgres
):
    assert service.send().status == 200
    with locked(server, "SELECT * FROM window_counter FOR UPDATE"):
        assert service.send().status == 503
        left = left_today([rival.send() for _ in range(3)])
    assert left == countdown(left)
    assert service.counters == "ok"


@pytest.fixture
def database(server: Postgres) -> Iterator[Postgresql]:
    database = Postgresql(server.url)
    yield database
    database.disconnect()


def test_end_of_idle_transaction_is_an_outage(database: Postgresql, server: Postgres):
    def idle() -> None:
        with database.atomic():
            [(pid,)] = database.execute_sql("SELECT pg_backend_pid()")
            database.execute_sql("SET LOCAL idle_in_transaction_session_timeout = 1")
            query = "SELECT true FROM pg_stat_activity WHERE pid = %s"
            wait_until(lambda: not server.ask(query, pid))
            database.execute_sql("SELECT 1")

    with pytest.raises(peewee.PeeweeException) as caught:
        idle()
    assert database.is_outage(caught.value)


def test_connection_is_not_used_again_if_its_rollback_fails(database: Postgresql):
    def break_off() -> None:
        with database.atomic():
            database.after_commit(lambda: events.append("it never happened"))
            database.execute_sql("SELECT pg_terminate_backend(pg_backend_pid())")

    events = []
    with pytest.raises(peewee.OperationalError):
        break_off()
    database.close()  # as at the end of a request
    with database.atomic():
        assert list(database.execute_sql("SELECT 1")) == [(1,)]
    assert events == []


def read(database: Postgresql, server: Postgres) -> None:
    database.execute_sql("SELECT 1").fetchall()
    server.hang()
    database.execute_sql("SELECT 1")


def write_in_nested_blocks(database: Postgresql, server: Postgres) -> None:
    with database.atomic(), database.atomic(), database.atomic():
        server.hang()
        database.execute_sql("UPDATE pg_class SET relname = '' WHERE false")


@pytest.mark.parametrize("meet", [read, write_in_nested_blocks])
def test_server_that_hangs_is_waited_for_once(
    database: Postgresql, server: Postgres, set_limits: Callable, meet: Callable
):
    short = dict.fromkeys(OF_STATEMENTS, 1.0)
    set_limits(**short, connect_seconds=HANGS_SECONDS)
    started = time.monotonic()
    try:
        with pytest.raises(peewee.OperationalError):
            meet(database, server)
    finally:
        server.go_on()
    assert time.monotonic() - started < HANGS_SECONDS


def test_defaults_of_the_role_do_not_apply(database: Postgresql, server: Postgres):
    with psycopg.connect(server.url, autocommit=True) as other:
        role = "ALTER ROLE CURRENT_USER"
        other.execute(f"{role} SET client_encoding = 'LATIN1'")
        other.execute(f"{role} SET default_transaction_isolation = 'serializable'")
        try:
            with database.atomic():
                [encoding] = database.execute_sql("SHOW client_encoding")
                [isolation] = database.execute_sql("SHOW transaction_isolation")
        finally:
            other.execute(f"{role} RESET ALL")
    assert (*encoding, *isolation) == ("UTF8", "read committed")
