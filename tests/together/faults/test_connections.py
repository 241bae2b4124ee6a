"""Connections to PostgreSQL: to several hosts, forgotten ones, and too many."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import psycopg
import pytest
from peewee import OperationalError

from petstore.extensions.operations.check import MOST_CONNECTIONS
from petstore.models.pets import Pet
from petstore.models.projects import Project
from petstore.storage import Busy
from petstore.storage.postgresql import TOO_MANY, Postgresql
from tests.harness import stage
from tests.harness.crowds import at_once
from tests.harness.patience import OF_STATEMENTS
from tests.harness.postgres import Postgres
from tests.harness.proxies import proxy
from tests.harness.services import AMPLE
from tests.harness.waiting import wait_until

CONNECTIONS = 4
CONNECT_SECONDS, HOST_SECONDS = 1.6, 0.5
# Of an address that is silent, beside others.
SILENT = "127.0.0.2"
Opened = Callable[[str], Postgresql]


@pytest.fixture
def opened(set_limits: Callable[..., None]) -> Iterator[Opened]:
    """A function that returns a database at a URL, with short time limits."""
    hosts = {"host_seconds": HOST_SECONDS, "connect_seconds": CONNECT_SECONDS}
    limits = dict.fromkeys(OF_STATEMENTS, 1.0) | hosts
    set_limits(**limits, back_off_seconds=0.0, resolve_seconds=0.3)
    with ExitStack() as stack:

        def opened(url: str) -> Postgresql:
            database = Postgresql(url)
            stack.callback(database.disconnect)
            return database

        yield opened


@pytest.fixture
def silent() -> Iterator[Callable[..., int]]:
    """A function that returns a port at which nobody ever answers."""
    with ExitStack() as stack:

        def silent(port: int = 0, host: str = "127.0.0.1") -> int:
            server = stack.enter_context(socket.create_server((host, port)))
            return server.getsockname()[1]

        yield silent


def at(server: Postgres, *ports: int, name: str = "127.0.0.1") -> str:
    hosts = ",".join(f"{name}:{port}" for port in ports)
    return server.url.replace(f"127.0.0.1:{server.port}", hosts)


def connect_seconds(database: Postgresql) -> float:
    """Return how long the first statement on a new connection takes."""
    database.disconnect()
    started = time.monotonic()
    database.execute_sql("SELECT 1")
    return time.monotonic() - started


def test_hosts_share_time(opened: Opened, server: Postgres, silent: Callable[..., int]):
    database = opened(at(server, silent(), silent(), server.port))
    assert connect_seconds(database) < CONNECT_SECONDS
    assert connect_seconds(database) < CONNECT_SECONDS / 3
    started = time.monotonic()
    with pytest.raises(OperationalError) as caught:
        opened(at(server, *(silent() for _ in range(9)))).execute_sql("SELECT 1")
    assert str(caught.value).count("timeout") == CONNECT_SECONDS // HOST_SECONDS
    assert time.monotonic() - started < 1.5 * CONNECT_SECONDS


def test_addresses_of_a_name_share_the_time_and_its_look_up_is_bounded(
    opened: Opened, server: Postgres, silent: Callable, monkeypatch: pytest.MonkeyPatch
):
    silent(server.port, SILENT)
    found = [(*[None] * 4, (address, 0)) for address in (SILENT, "127.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    database = opened(at(server, server.port, name="db.example"))
    assert connect_seconds(database) < CONNECT_SECONDS
    hangs = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: hangs.wait(30))
    started = time.monotonic()
    with pytest.raises(OperationalError):
        connect_seconds(database)
    hangs.set()
    assert time.monotonic() - started < CONNECT_SECONDS


def use_at_once(database: Postgresql, number: int = CONNECTIONS) -> None:
    together = threading.Barrier(number, timeout=30)

    def use(_: int) -> None:
        database.execute_sql("SELECT 1")
        together.wait()
        database.close()

    at_once(use, range(number))


def test_animal_is_not_added_late(set_limits: Callable[..., None], server: Postgres):
    rex = {"name": "Rex", "category_id": 7, "status": "available"}
    set_limits(**dict.fromkeys(OF_STATEMENTS, 0.5))
    with (
        proxy(server.port) as name,
        stage.opened({"DATABASE_URL": server.url_at(name.port)}),
    ):
        project = Project.add("Shelter", None, AMPLE)
        Pet.add(project.id, **rex)
        name.passes.clear()
        with pytest.raises(Busy):
            Pet.add(project.id, **rex)
        name.restore()
        time.sleep(0.3)
    held = "SELECT count(*) FROM pet WHERE project_id = %s"
    assert server.ask(held, project.id) == (1,)


def test_of_all_forgotten_connections_one_fails(opened: Opened, server: Postgres):
    def write() -> bool:
        try:
            with database.atomic():
                database.execute_sql(
                    "CREATE TEMPORARY TABLE rex ON COMMIT DROP AS SELECT"
                )
        except OperationalError:
            return False
        finally:
            database.close()
        return True

    with proxy(server.port) as name:
        database = opened(server.url_at(name.port))
        for forget in (name.forget, name.cut):
            use_at_once(database)
            forget()
            assert [write() for _ in range(CONNECTIONS)] == [False, True, True, True]
        name.cut()


@pytest.fixture
def crowded(server: Postgres) -> Iterator[str]:
    """The URL for a role that may have half as many connections as are used."""
    with psycopg.connect(server.url, autocommit=True) as other:
        limit = CONNECTIONS // 2
        other.execute(f"CREATE ROLE plain LOGIN PASSWORD 'x' CONNECTION LIMIT {limit}")
        yield server.url.replace("postgres:x", "plain:x")
        wait_until(lambda: connected(server) == 0)
        other.execute("DROP ROLE plain")


def connected(server: Postgres) -> int:
    query = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'plain'"
    return server.ask(query)[0]


def test_server_that_takes_no_more_is_used_with_what_is_open(
    opened: Opened, server: Postgres, crowded: str, silent: Callable[..., int]
):
    ports = f"{silent()},127.0.0.1:{server.port}"
    database = opened(crowded.replace(str(server.port), ports))
    assert list(database.execute_sql(MOST_CONNECTIONS)) == [(CONNECTIONS // 2,)]

    def use(_: int) -> list:
        rows = database.execute_sql("SELECT 1 FROM pg_sleep(0.05)").fetchall()
        database.close()
        return rows

    started = time.monotonic()
    assert at_once(use, range(3 * CONNECTIONS)) == [[(1,)]] * 3 * CONNECTIONS
    assert time.monotonic() - started < CONNECT_SECONDS / 2  # of the silent host
    database.disconnect()


@pytest.mark.parametrize(
    "words",
    [
        "sorry, too many clients already",
        'too many connections for role "plain"',
        "remaining connection slots are reserved for roles with the SUPERUSER",
        "no more connections allowed (max_client_conn)",
    ],
)
def test_a_server_says_in_many_words_that_it_is_full(words: str):
    assert TOO_MANY.search(f"FATAL:  {words}")


def test_connection_that_nobody_uses_is_closed_without_a_request(
    opened: Opened, server: Postgres, crowded: str, set_limits: Callable[..., None]
):
    set_limits(unused_seconds=0.4)
    database = opened(crowded)
    use_at_once(database, CONNECTIONS // 2)
    assert connected(server) == CONNECTIONS // 2
    wait_until(lambda: connected(server) == 0)
