"""Fixtures for a production-like service whose stores are made to fail."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.settings import read_settings
from petstore.storage.database import open_databases
from tests.harness import databases, servers
from tests.harness.services import Service, issue_key, serving

Serve = Callable[..., servers.Gunicorn]


@pytest.fixture
def serve(sqlite_url: str, tmp_path: Path) -> Iterator[Serve]:
    """A function that starts gunicorn on a shared database, with extra settings."""
    with ExitStack() as stack:

        def serve(**settings: str) -> servers.Gunicorn:
            environ = {"DATABASE_URL": sqlite_url, "WEB_CONCURRENCY": "2"} | settings
            return stack.enter_context(servers.gunicorn(tmp_path, environ))

        yield serve


@pytest.fixture
def issue(sqlite_url: str) -> Iterator[Callable[[], tuple[int, str]]]:
    """A function that creates a project and returns its id and an API key."""
    open_databases(read_settings({"DATABASE_URL": sqlite_url}))

    def issue(per_minute: int = 10**6) -> tuple[int, str]:
        project = Project.add("Shelter", None, Plan("enterprise", per_minute, 10**6))
        return project.id, Key.issue(project)

    yield issue
    databases.close()


@pytest.fixture(scope="module")
def service_environ(new_database: Callable[[str], str]) -> dict[str, str]:
    """The settings of a service that the tests of a module share."""
    return {"DATABASE_URL": new_database("sqlite"), "WEB_CONCURRENCY": "1"}


@pytest.fixture(scope="module")
def running(
    service_environ: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    with serving(tmp_path_factory.mktemp("service"), service_environ) as service:
        yield service


@pytest.fixture
def service(running: Service, service_environ: dict[str, str]) -> Service:
    """The shared service, with a key of a project without animals."""
    return replace(running, key=issue_key(service_environ))


@pytest.fixture
def rival(running: Service, service_environ: dict[str, str]) -> Service:
    """The same service, with a key of another project."""
    return replace(running, key=issue_key(service_environ))
