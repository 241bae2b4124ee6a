"""Fixtures that run the service under gunicorn, and raw connections to it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.settings import read_settings
from petstore.storage.database import open_databases
from petstore.timeouts import Limits
from tests.harness import databases, servers
from tests.harness.patience import PATIENT
from tests.harness.wire import Wire

PLENTY = Plan("enterprise", 10**6, 10**6)
# They may not be longer than other limits, and hardly any of these services uses Redis.
SHORT_HITS = {"redis_seconds": Limits().redis_seconds}

Serve = Callable[..., servers.Gunicorn]
APP = "tests.server.large_file:app"


@pytest.fixture(scope="session")
def server_environ(new_database: Callable[[str], str]) -> dict[str, str]:
    """Settings for a service whose database is not emptied by other tests."""
    return {
        "DATABASE_URL": new_database("sqlite"),
        "WEB_CONCURRENCY": "1",
    }


@pytest.fixture(scope="session")
def service(
    server_environ: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[servers.Gunicorn]:
    """A service shared by all tests that do not disrupt it."""
    directory = tmp_path_factory.mktemp("gunicorn")
    with servers.gunicorn(directory, server_environ, APP) as service:
        yield service
    assert tracebacks(service.log) == []


@pytest.fixture(scope="module")
def serve(
    server_environ: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Serve]:
    """A function that starts a service for the tests of a module."""
    directory = tmp_path_factory.mktemp("gunicorn")
    with ExitStack() as stack:

        def serve(
            options: str = "", limits: dict[str, float] | None = None, **settings: str
        ) -> servers.Gunicorn:
            own = server_environ | settings | {"GUNICORN_CMD_ARGS": options}
            changed = replace(PATIENT, **(SHORT_HITS | (limits or {})))
            return stack.enter_context(servers.gunicorn(directory, own, APP, changed))

        yield serve
    for log in directory.glob("gunicorn-*.log"):
        assert tracebacks(log) == []


def tracebacks(log: Path) -> list[str]:
    """Return the lines of a log that hold a traceback."""
    return [line for line in log.read_text().splitlines() if "Traceback" in line]


@pytest.fixture
def key(server_environ: dict[str, str]) -> Iterator[str]:
    """A key of a new project with ample limits."""
    open_databases(read_settings(server_environ))
    yield Key.issue(Project.add("Shelter", None, PLENTY))
    databases.close()


@pytest.fixture
def wire(service: servers.Gunicorn) -> Iterator[Wire]:
    """A connection to the shared service."""
    with Wire(service.url) as wire:
        yield wire
