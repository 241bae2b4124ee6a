"""Fixtures that run the service under gunicorn, and raw connections to it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from petstore.timeouts import Limits
from tests.harness import servers
from tests.harness.patience import PATIENT
from tests.harness.services import issue_key
from tests.harness.wire import Wire

# They may not be longer than other limits, and hardly any of these services uses Redis.
SHORT_HITS = {"redis_seconds": Limits().redis_seconds}

Serve = Callable[..., servers.Gunicorn]
APP = "tests.harness.large_file:app"


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
    assert service.tracebacks() == []


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
        assert "Traceback" not in log.read_text()


@pytest.fixture
def key(server_environ: dict[str, str]) -> str:
    """A key of a new project with ample limits."""
    return issue_key(server_environ)


@pytest.fixture
def wire(service: servers.Gunicorn) -> Iterator[Wire]:
    """A connection to the shared service."""
    with Wire(service.url) as wire:
        yield wire
