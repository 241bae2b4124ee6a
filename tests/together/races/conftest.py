"""Fixtures for a production-like service: several processes on real clocks."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import cycle, islice

import pytest

from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from tests.harness import servers
from tests.harness.clients import Client
from tests.harness.patience import NOTING
from tests.harness.services import AMPLE
from tests.harness.stage import opened

# Stores, number of gunicorn servers, and workers per server.
DEPLOYMENTS = {
    "sqlite": (["sqlite"], 1, 4),
    "postgresql": (["postgresql"], 2, 2),
    "postgresql-redis": (["postgresql", "redis"], 2, 2),
}
# For races that only the database decides.
of_both_engines = pytest.mark.parametrize(
    "service", ["sqlite", "postgresql"], indirect=True
)
# For races that the simulation runs on SQLite, and for what any deployment shows.
of_postgresql = pytest.mark.parametrize("service", ["postgresql"], indirect=True)
of_postgresql_and_redis = pytest.mark.parametrize(
    "service", ["postgresql", "postgresql-redis"], indirect=True
)


@dataclass
class Service:
    """Gunicorn servers that share their stores."""

    gunicorns: list[servers.Gunicorn]
    environ: dict[str, str]

    @property
    def urls(self) -> list[str]:
        """The URL of each server."""
        return [gunicorn.url for gunicorn in self.gunicorns]

    @property
    def log(self) -> str:
        """The logs of all servers."""
        return "".join(gunicorn.log.read_text() for gunicorn in self.gunicorns)


@pytest.fixture(scope="session")
def race_stores(
    new_database: Callable[[str], str], redis_server: str
) -> dict[str, str]:
    """Stores that are never emptied, since each race uses its own projects."""
    return {
        "sqlite": new_database("sqlite"),
        "postgresql": new_database("postgresql"),
        "redis": redis_server,
    }


@pytest.fixture(scope="session", params=DEPLOYMENTS)
def service(
    request: pytest.FixtureRequest,
    race_stores: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Service]:
    """The running service, in each deployment in turn."""
    stores, processes, workers = DEPLOYMENTS[request.param]
    urls = [race_stores[store] for store in stores]
    environ = dict(zip(("DATABASE_URL", "REDIS_URL"), urls, strict=False))
    environ["WEB_CONCURRENCY"] = str(workers)
    logs = tmp_path_factory.mktemp("gunicorn")
    with ExitStack() as stack:
        gunicorns = [
            stack.enter_context(servers.gunicorn(logs, environ, limits=NOTING))
            for _ in range(processes)
        ]
        yield Service(gunicorns, environ)


@pytest.fixture
def clients(
    service: Service, key_of: Callable[[Plan], str]
) -> Iterator[Callable[[int], list[Client]]]:
    """A function that returns so many clients of a new project, over all servers."""
    key = key_of(AMPLE)
    with ExitStack() as stack:
        yield lambda count: [
            stack.enter_context(Client(url, key))
            for url in islice(cycle(service.urls), count)
        ]


@pytest.fixture
def key_of(service: Service) -> Iterator[Callable[[Plan], str]]:
    """A function that creates a project on a plan and returns a key of it."""
    with opened(service.environ):
        yield lambda plan: Key.issue(Project.add("Shelter", None, plan))
