"""Fixtures for a production-like service whose stores are made to fail."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from petstore.database import open_databases
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.settings import read_settings
from tests import databases, servers

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
