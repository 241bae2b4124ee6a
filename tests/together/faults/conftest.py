"""Fixtures for a production-like service whose stores are made to fail."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from petstore.timeouts import Limits
from tests.harness.patience import PATIENT
from tests.harness.postgres import Postgres, postgres
from tests.harness.services import Service, issue_key, serving
from tests.harness.waiting import wait_until

Serve = Callable[..., Service]


@pytest.fixture
def serve(sqlite_url: str, tmp_path: Path) -> Iterator[Serve]:
    """A function that starts the service on a shared database, with extra settings."""
    with ExitStack() as stack:

        def serve(*options: str, key: str = "", **settings: str) -> Service:
            environ = {"DATABASE_URL": sqlite_url, "WEB_CONCURRENCY": "1"} | settings
            return stack.enter_context(serving(tmp_path, environ, *options, key=key))

        yield serve


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    """A PostgreSQL server with a migrated database, which a test may stop."""
    with postgres() as server:
        yield server


@pytest.fixture(scope="module")
def service_environ(new_database: Callable[[str], str]) -> dict[str, str]:
    """The settings of a service that the tests of a module share."""
    return {"DATABASE_URL": new_database("sqlite"), "WEB_CONCURRENCY": "1"}


@pytest.fixture(scope="module")
def limits() -> Limits:
    """The limits of that service."""
    return PATIENT


@pytest.fixture(scope="module")
def running(
    service_environ: dict[str, str],
    limits: Limits,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Service]:
    directory = tmp_path_factory.mktemp("service")
    with serving(directory, service_environ, limits=limits) as service:
        yield service


@pytest.fixture
def service(running: Service, service_environ: dict[str, str]) -> Service:
    """The shared service, with a key of a project without animals.

    It has recovered from what the test before did to its stores.
    """
    wait_until(lambda: running.send("/readyz").status == 200)
    wait_until(lambda: running.counters == "ok")
    return replace(running, key=issue_key(service_environ))


@pytest.fixture
def rival(running: Service, service_environ: dict[str, str]) -> Service:
    """The same service, with a key of another project."""
    return replace(running, key=issue_key(service_environ))
