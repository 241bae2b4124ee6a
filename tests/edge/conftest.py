"""The service as it runs in production, and clients that need no manners."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from petstore.database import open_databases
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.settings import read_settings
from tests import databases, servers
from tests.edge.wire import Wire

PLENTY = Plan("enterprise", 10**6, 10**6)


@pytest.fixture(scope="session")
def edge_environ(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The settings of a service whose database no other test empties."""
    path = tmp_path_factory.mktemp("edge") / "petstore.db"
    environ = {"DATABASE_URL": f"sqlite:///{path}", "WEB_CONCURRENCY": "1"}
    servers.flask(environ, "migrate").check_returncode()
    return environ


@pytest.fixture(scope="session")
def service(
    edge_environ: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[servers.Gunicorn]:
    """A service that runs for all the tests that do not harm it."""
    with servers.gunicorn(tmp_path_factory.mktemp("gunicorn"), edge_environ) as service:
        yield service
    assert "Traceback" not in service.log.read_text()


@pytest.fixture
def serve(
    edge_environ: dict[str, str], tmp_path: Path
) -> Iterator[Callable[..., servers.Gunicorn]]:
    """Starts a service of the test's own, with gunicorn's options and settings."""
    with ExitStack() as stack:

        def serve(options: str = "", **settings: str) -> servers.Gunicorn:
            environ = edge_environ | settings | {"GUNICORN_CMD_ARGS": options}
            return stack.enter_context(servers.gunicorn(tmp_path, environ))

        yield serve
    for log in tmp_path.glob("gunicorn-*.log"):
        assert "Traceback" not in log.read_text()


@pytest.fixture
def key(edge_environ: dict[str, str]) -> Iterator[str]:
    """A key of a project of the test's own, with ample limits."""
    open_databases(read_settings(edge_environ))
    yield Key.issue(Project.add("Shelter", None, PLENTY))
    databases.close()


@pytest.fixture
def wire(service: servers.Gunicorn) -> Iterator[Wire]:
    """A connection to the running service."""
    with Wire(service.url) as wire:
        yield wire
