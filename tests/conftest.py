"""Fixtures for all tests: servers, databases, the app, projects and clients."""

import gc
import itertools
import json
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import copy_context
from dataclasses import replace
from pathlib import Path
from typing import Any

import hypothesis
import psycopg
import pytest
from click.testing import Result
from flask import Flask
from flask.testing import FlaskClient
from redis import Redis

from petstore import clock as service_clock
from petstore import create_app, log, timeouts
from petstore.extensions import EXTENSIONS
from petstore.models import flush_queues
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.settings import read_settings
from petstore.storage import migrator
from petstore.storage.database import databases_at
from tests.harness import databases, servers
from tests.harness.clocks import POSTGRESQL_CLOCK, Clock, make_stores_movable
from tests.harness.clusters import Server
from tests.harness.patience import be_patient
from tests.harness.routes import compile_once

FOLDER = Path(__file__).parent
# Fixtures that an extension brings, also for tests of several extensions.
pytest_plugins = [
    f"tests.extensions.{name}.fixtures"
    for name in EXTENSIONS
    if (FOLDER / "extensions" / name / "fixtures.py").exists()
]
gc.disable()  # until all tests are collected
be_patient()
make_stores_movable()
databases.forget_power_cuts()
compile_once()
# So that a test can read what it has caused.
log.Stream.put = log.Stream._write
# Examples may take arbitrarily long on a busy machine.
hypothesis.settings.register_profile(
    "busy", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("busy")
# The folders whose files take longest, so that none is left to run alone at the end.
FIRST = [
    *(f"together/{name}" for name in ("simulation", "races", "faults", ".", "recipes")),
    *(f"core/{name}" for name in ("storage", "server", "cli")),
    *(f"extensions/{name}" for name in ("openapi", "monitoring", "operations")),
]
TEST_SECONDS = 900
MS_BEFORE_MIDNIGHT = 60_000


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start what takes longest first."""
    rank = {FOLDER / name: number for number, name in enumerate(FIRST)}
    items.sort(key=lambda item: rank.get(item.path.parent, len(FIRST)))


def pytest_collection_finish() -> None:
    """Spare the collector what is there to stay: a fifth of the time of a test."""
    gc.collect()
    gc.freeze()
    gc.enable()


def _give_up(*_: object) -> None:
    raise TimeoutError(f"the test goes on after {TEST_SECONDS} seconds")


signal.signal(signal.SIGALRM, _give_up)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Iterator[None]:
    """Let a test not wait for ever, and not count requests of two days as of one."""
    left_ms = (
        service_clock.MS_PER_DAY - service_clock.now_ms() % service_clock.MS_PER_DAY
    )
    if left_ms < MS_BEFORE_MIDNIGHT:
        time.sleep(left_ms / service_clock.MS_PER_SECOND)
    signal.alarm(TEST_SECONDS)
    try:
        return (yield)
    finally:
        signal.alarm(0)


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """The URL of a PostgreSQL server with a migrated database."""
    with servers.postgresql(is_durable=False) as url:
        _migrate(url)
        with psycopg.connect(_named(url, "template1"), autocommit=True) as connection:
            connection.execute("CREATE DATABASE migrated TEMPLATE postgres")
        yield url


@pytest.fixture(scope="session")
def postgresql(postgresql_server: str) -> Iterator[psycopg.Connection]:
    """A connection to the PostgreSQL database, separate from the service's own."""
    with psycopg.connect(postgresql_server, autocommit=True) as connection:
        connection.execute(POSTGRESQL_CLOCK)
        connection.execute(databases.EMPTY)
        yield connection


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a Redis server."""
    with Server(servers.free_port(), tmp_path_factory.mktemp("redis")) as redis:
        yield redis.url


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The path of a migrated SQLite database, to be copied."""
    path = tmp_path_factory.mktemp("sqlite") / "petstore.db"
    _migrate(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session")
def new_database(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], str]:
    """A function that creates a new migrated database and returns its URL."""
    names = (f"d{number}" for number in itertools.count())

    def new_database(engine: str) -> str:
        if engine == "sqlite":
            migrated = request.getfixturevalue("migrated_sqlite")
            return _copied(migrated, tmp_path_factory.mktemp("database"))
        name, server = next(names), request.getfixturevalue("postgresql_server")
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE migrated")
        return _named(server, name)

    return new_database


@pytest.fixture
def sqlite_url(migrated_sqlite: Path, tmp_path: Path) -> str:
    """The URL of an empty SQLite database."""
    return _copied(migrated_sqlite, tmp_path)


@pytest.fixture
def postgresql_url(postgresql_server: str, postgresql: psycopg.Connection) -> str:
    """The URL of an empty PostgreSQL database."""
    databases.empty(postgresql)
    return postgresql_server


@pytest.fixture
def redis_url(redis_server: str) -> str:
    """The URL of an empty Redis server."""
    Redis.from_url(redis_server).flushall()
    return redis_server


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Server]:
    """A Redis server of its own, which a test may stop."""
    with Server(servers.free_port(), tmp_path / "redis") as redis:
        yield redis


@pytest.fixture
def database_url(request: pytest.FixtureRequest) -> str:
    """The URL of an empty SQLite database, or of another engine where a test says so.

    Folders whose tests depend on the engine have one for each engine in turn.
    """
    engine = getattr(request, "param", "sqlite")
    return request.getfixturevalue(f"{engine}_url")


@pytest.fixture(params=["sqlite", "postgresql"])
def unmigrated_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database without tables, for each engine in turn."""
    if request.param == "sqlite":
        (tmp_path / "unmigrated.db").touch(0o600)
        return f"sqlite:///{tmp_path / 'unmigrated.db'}"
    connection = request.getfixturevalue("postgresql")
    connection.execute("DROP DATABASE IF EXISTS unmigrated WITH (FORCE)")
    connection.execute("CREATE DATABASE unmigrated")
    return _named(request.getfixturevalue("postgresql_server"), "unmigrated")


@pytest.fixture
def environ(database_url: str) -> dict[str, str]:
    """The settings of the service, which a test may change before using `app`."""
    return {"DATABASE_URL": database_url, "WEB_CONCURRENCY": "1"}


@pytest.fixture
def set_limits(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A function that replaces some time limits and sizes for the test.

    They also hold for the services that the test starts afterwards.
    """

    def set_limits(**changed: float) -> None:
        limits = replace(timeouts.LIMITS, **changed)
        monkeypatch.setattr(timeouts, "LIMITS", limits)

    return set_limits


@pytest.fixture
def locked_data(
    set_limits: Callable[..., None], database_url: str, request: pytest.FixtureRequest
) -> Callable[[str], AbstractContextManager[None]]:
    """A function that keeps others from writing a table; request it before `app`."""
    names = ("busy", "replay_lock", "lock")
    set_limits(**{f"{name}_seconds": 0.1 for name in names})
    if database_url.startswith("sqlite"):
        return lambda _table: databases.locked(database_url.removeprefix("sqlite:///"))
    connection: psycopg.Connection = request.getfixturevalue("postgresql")

    @contextmanager
    def lock(table: str) -> Iterator[None]:
        with connection.transaction():
            connection.execute(f"LOCK TABLE {table} IN EXCLUSIVE MODE")
            yield

    return lock


@pytest.fixture
def clock(
    environ: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> Clock:
    """A frozen clock for the process and for every store."""
    clock = Clock()
    monkeypatch.setattr(service_clock, "now_ms", lambda: clock.now_ms)
    if environ["DATABASE_URL"].startswith("postgresql"):
        clock.tell_postgresql(request.getfixturevalue("postgresql"))
    if url := environ.get("REDIS_URL"):
        clock.tell_redis(url)
    return clock


@pytest.fixture
def app(environ: dict[str, str], clock: Clock) -> Iterator[Flask]:
    """The service, running in this process."""
    with databases.set_aside():
        yield create_app(read_settings(environ))
        flush_queues()


@pytest.fixture
def flask(app: Flask) -> Callable[..., Result]:
    """A function that runs a command in this process and returns its result."""
    run = app.test_cli_runner().invoke
    return lambda *arguments: copy_context().run(run, args=arguments)


@pytest.fixture
def lines(capfd: pytest.CaptureFixture[str]) -> Callable[[], list[dict[str, Any]]]:
    """Return a function that reads the JSON lines on stdout since the last call."""

    def lines() -> list[dict[str, Any]]:
        *lines, rest = capfd.readouterr().out.split("\n")
        assert not rest
        return [json.loads(line) for line in lines]

    return lines


@pytest.fixture
def project(app: Flask) -> Project:
    """A project with enough quota for any test that is not about quotas."""
    return Project.add("Shelter", None, Plan("business"))


@pytest.fixture
def rival(app: Flask) -> Project:
    """Another project, which must not see any data of the first."""
    return Project.add("Rival", None, Plan("business"))


@pytest.fixture
def key(project: Project) -> str:
    """An API key of the project."""
    # To look for keys that have ended is most of what issuing one costs.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Key, "_delete_ended", lambda *_: None)
        return Key.issue(project)


@pytest.fixture
def client_of(app: Flask) -> Callable[[str | None], FlaskClient]:
    """A function that returns a client which sends a key with every request."""

    def client_of(key: str | None) -> FlaskClient:
        client = app.test_client()
        if key:
            client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {key}"
        return client

    return client_of


@pytest.fixture
def client(client_of: Callable[[str | None], FlaskClient], key: str) -> FlaskClient:
    """A client with the project's key."""
    return client_of(key)


@pytest.fixture
def rival_client(
    client_of: Callable[[str | None], FlaskClient], rival: Project
) -> FlaskClient:
    """A client with a key of the rival project."""
    return client_of(Key.issue(rival))


@pytest.fixture
def stranger(client_of: Callable[[str | None], FlaskClient]) -> FlaskClient:
    """A client without a key."""
    return client_of(None)


def _migrate(url: str) -> None:
    # Not the global databases, which a test may already be using.
    databases = databases_at(url)
    list(migrator.migrate(databases))
    databases.close()


def _copied(migrated: Path, directory: Path) -> str:
    for file in migrated.parent.iterdir():
        shutil.copy(file, directory)
    return f"sqlite:///{directory / migrated.name}"


def _named(server: str, database: str) -> str:
    return server.replace("/postgres?", f"/{database}?")
