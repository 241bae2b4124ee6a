"""The campaigns of a month of legal use: what it costs later requests, and the disk."""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from itertools import cycle, islice
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import psycopg

from petstore.models.keys import Key
from petstore.models.projects import Project
from petstore.storage import opened_databases
from tests.harness import servers
from tests.harness.campaign import Bound, Campaign, Run
from tests.harness.clients import ORDERS, PETS
from tests.harness.costs import Cost
from tests.harness.services import AMPLE, Service, serving
from tests.harness.stage import database, opened
from tests.torture.month_rows import fill

LITTLE = 1_000  # rows of a service that has just begun: each list fills a page
MOST_TIMES_DEARER = 2.0
# Steps of SQLite; rows and blocks of PostgreSQL, whose indexes grow a level or two.
SLACK = {"sqlite": 200, "postgresql": 50}
ROUNDS, REQUESTS = 3, 100
BOUND = Bound(times=2.0, noise_ms=3.0)
PET = {"name": "Rex", "categoryId": 1}


class Filled(NamedTuple):
    """A database with rows in every table, and a key of the project in it."""

    url: str
    key: str
    directory: Path


def play(run: Run, engine: str) -> None:
    """Compare a database that a month has filled with one that has little."""
    with ExitStack() as stack:
        little, full = (
            stack.enter_context(_filled(run, engine, rows))
            for rows in (LITTLE, run.trials)
        )
        before, after = _costs(little), _costs(full)
        run.require(before.keys() == after.keys(), "other deeds")
        for deed, costs in after.items():
            least, most = _examined(before[deed]), _examined(costs)
            is_bounded = most <= MOST_TIMES_DEARER * least + SLACK[engine]
            dearest = max(costs, key=attrgetter("examined"), default=None)
            run.require(is_bounded, f"{deed}: {least}, then {most}: {dearest}")
            run.done += len(costs)
        services = [
            stack.enter_context(_serving(run, filled)) for filled in (little, full)
        ]
        run.compare(ROUNDS, lambda is_full: _use(run, services[is_full]), BOUND)
        run.figures["mb"] = round(_bytes(full) / 1e6)
        run.figures["bytes_a_row"] = round(_bytes(full) / run.trials)


@contextmanager
def _filled(run: Run, engine: str, rows: int) -> Iterator[Filled]:
    directory = run.directory / f"with-{rows}"
    directory.mkdir()
    with database(engine, replace(run, directory=directory)) as url:
        with opened(url):
            opened_databases().extend_timeouts()
            project = Project.add("Shelter", "shelter", AMPLE)
            key = Key.issue(project)
            fill(project, rows)
        yield Filled(url, key, directory)


def _costs(filled: Filled) -> dict[str, list[Cost]]:
    answer = filled.directory / "costs.json"
    tour = servers.run({}, "tests.torture.tour", filled.url, filled.key, str(answer))
    assert tour.returncode == 0, tour.stderr[-2000:]
    found = json.loads(answer.read_text())
    return {deed: [Cost(*cost) for cost in costs] for deed, costs in found.items()}


def _examined(costs: list[Cost]) -> int:
    return sum(cost.examined for cost in costs)


def _serving(run: Run, filled: Filled) -> AbstractContextManager[Service]:
    environ = {"DATABASE_URL": filled.url, "WEB_CONCURRENCY": "1"}
    return serving(filled.directory, environ, key=filled.key, limits=run.limits)


def _use(run: Run, service: Service) -> list[float]:
    """Return the response times of requests of several kinds, in seconds."""
    once = {"Idempotency_Key": f"{run.dice.random()}"}
    middle = f"?after={LITTLE // 2}"
    with service.client() as client:
        kinds = [
            partial(client.get, f"{PETS}{middle}"),
            partial(client.get, f"{PETS}{middle}&status=sold"),
            partial(client.get, f"{ORDERS}{middle}"),
            partial(client.post, PET, **once),
        ]
        answers = [send() for send in islice(cycle(kinds), REQUESTS)]
    run.faults += [f"status {each.status}" for each in answers if not each.is_served]
    return [answer.seconds for answer in answers]


def _bytes(filled: Filled) -> int:
    """Return the size of a database on the disk."""
    if filled.url.startswith("sqlite"):
        return sum(file.stat().st_size for file in filled.directory.glob("*.db*"))
    with psycopg.connect(filled.url) as connection:
        size = "SELECT pg_database_size(current_database())"
        return connection.execute(size).fetchone()[0]


MONTHS = tuple(
    Campaign(
        f"a month of use: {engine}", 1_000_000, 20_000, partial(play, engine=engine)
    )
    for engine in ("sqlite", "postgresql")
)
