"""The campaigns of events: of however many, the newest 500 of each project are kept."""

import random
from collections import defaultdict
from functools import partial

from peewee import fn

from petstore.events import DELETED_AT_ONCE, KEPT, KEPT_MS, emit_after_commit
from petstore.models.activity import Activity, Event
from petstore.models.projects import Plan, Project
from petstore.quotas import housekeeping
from petstore.storage import db
from petstore.storage.lists import Part
from tests.harness.campaign import Campaign, Run
from tests.harness.crowds import at_once
from tests.harness.stage import database, opened

PROJECTS, WRITERS = 20, 4
CHECKED_EACH = 100  # transactions
# Transactions that do not see each other leave some that the next event deletes.
MOST = KEPT + DELETED_AT_ONCE


def _play(run: Run, engine: str) -> None:
    with database(engine, run) as url, opened(url):
        projects = [Project.add(f"P{n}", None, Plan("free")) for n in range(PROJECTS)]
        rounds = run.trials // (PROJECTS * WRITERS)
        write = partial(_write, run, projects, rounds)
        at_once(write, [f"writer-{n} {run.dice.random()}" for n in range(WRITERS)])
        run.done = rounds * PROJECTS * WRITERS
        run.figures["rows"] = Activity.select().count()
        for project in projects:
            _require_newest(run, project, rounds)
        _outdate(run, projects)


def _write(run: Run, projects: list[Project], rounds: int, writer: str) -> None:
    """Emit an event of each project, in a transaction, again and again."""
    dice = random.Random(writer)
    for number in range(rounds):
        with db.atomic():
            for project in dice.sample(projects, len(projects)):
                _emit(project, writer[:16], number)
        if number % CHECKED_EACH == 0:
            run.require(_most() <= MOST, f"a project has {_most()} events")


def _emit(project: Project, key: str, number: int) -> None:
    emit_after_commit("key_banned", project=project.slug, key=key, until_ms=number)


def _most() -> int:
    counts = Activity.select(fn.COUNT(Activity.id)).group_by(Activity.project)
    return max((count for (count,) in counts.tuples()), default=0)


def _require_newest(run: Run, project: Project, rounds: int) -> None:
    """Find what is kept of a project: the last events of each writer."""
    _emit(project, "nobody", 0)
    run.require(_most() <= MOST, "an event has not deleted what was too much")
    numbers = defaultdict(list)
    for event in Event.listed(project.id, Part(KEPT)).rows[1:]:
        numbers[event.facts["key"]].append(event.facts["until_ms"])
    for writer, kept in numbers.items():
        newest = list(reversed(range(rounds)))[: len(kept)]
        run.require(kept == newest, f"{writer}: not its newest events are kept")


def _outdate(run: Run, projects: list[Project]) -> None:
    """Make all events too old: none is shown, and housekeeping deletes them."""
    Activity.update(at_ms=Activity.at_ms - KEPT_MS - 1).execute()
    run.require(
        not any(Event.listed(project.id, Part(KEPT)).rows for project in projects),
        "an event is shown after 90 days",
    )
    housekeeping.tidy()
    left = Activity.select().count()
    run.require(left == 0, f"{left} outdated events are left")


EVENTS = (
    Campaign("events on sqlite", 1_000_000, 20_000, partial(_play, engine="sqlite")),
    Campaign(
        "events on postgresql", 200_000, 4_000, partial(_play, engine="postgresql")
    ),
)
