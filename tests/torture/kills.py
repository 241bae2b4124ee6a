"""The campaigns that kill workers and masters during writes."""

import time
from contextlib import suppress
from functools import partial

import psutil
from peewee import fn

from petstore.models.projects import Project
from petstore.quotas.storages.database import Counter
from tests.harness.campaign import Campaign, Run
from tests.harness.patience import PATIENT
from tests.harness.services import Service
from tests.harness.stage import damage, deployed, opened
from tests.harness.waiting import wait_until
from tests.harness.writers import Ledger, writing

MASTERS = 0.1  # share of the kills
WRITES = range(1, 40)  # answered between two kills


def play(run: Run, engine: str) -> None:
    """Kill workers and masters while clients write; judge what is left."""
    # Files that a killed master leaves behind are removed with the directory.
    settings = {"TMPDIR": str(run.directory)}
    with deployed(run, engine=engine, limits=PATIENT, **settings) as service:
        with writing(service.client, "rex") as ledger:
            recoveries = [_kill(run, service, ledger) for _ in run.each_trial()]
        run.figures["slowest recovery"] = round(max(recoveries), 1)
        run.faults += _miscounts(service, ledger)
        with service.client() as client:
            ledger.judge(client, run)
    if engine == "sqlite":
        run.faults += damage(run.directory)


def _kill(run: Run, service: Service, ledger: Ledger) -> float:
    """Kill a worker or the master; return the seconds until the next answer."""
    goal = ledger.answered + run.dice.choice(WRITES)
    wait_until(lambda: ledger.answered >= goal, "no write was answered")
    killed_at = time.monotonic()
    if run.dice.random() < MASTERS:
        service.gunicorn.kill()
        service.gunicorn.start()
    else:
        with suppress(psutil.NoSuchProcess, IndexError):
            run.dice.choice(service.workers).kill()
    service.gunicorn.wait_until_it_serves()
    return time.monotonic() - killed_at


def _miscounts(service: Service, ledger: Ledger) -> list[str]:
    """Return a fault if an answer was not counted, or a request twice."""
    with opened(service.gunicorn.environ["DATABASE_URL"]):
        latest = Project.select(fn.MAX(Project.id)).scalar()
        counted = (
            Counter.select(fn.SUM(Counter.long_used))
            .where(Counter.subject == f"project:{latest}")
            .scalar()
        )
    sent = len(ledger.statuses)
    if ledger.answered <= counted <= sent:
        return []
    return [f"{counted} counted, {ledger.answered} answered, {sent} sent"]


KILLS = tuple(
    Campaign(f"kills on {engine}", 300, 10, partial(play, engine=engine))
    for engine in ("sqlite", "postgresql")
)
