"""The campaigns that kill workers and masters during writes."""

from contextlib import ExitStack, closing, suppress
from functools import partial

import psutil
from peewee import fn

from petstore.models.projects import Project
from petstore.quotas.stores.database import Usage
from petstore.settings import read_settings
from petstore.storage.database import open_databases
from tests.harness import databases
from tests.harness.clients import Client
from tests.harness.servers import PATIENCE
from tests.harness.services import issue_key
from tests.harness.waiting import wait_until
from tests.torture.campaign import Campaign, Outcome, Run
from tests.torture.stage import Host, damage, database
from tests.torture.writers import Ledger, writing

MASTERS = 0.1  # share of the kills
WRITES = range(1, 40)  # answered between two kills


def play(engine: str, run: Run) -> Outcome:
    """Kill workers and masters while clients write; judge what is left."""
    outcome = Outcome()
    with ExitStack() as stack:
        url = stack.enter_context(database(engine, run))
        environ = {"DATABASE_URL": url}
        host = stack.enter_context(Host(run.directory, environ, *PATIENCE))
        key = issue_key(environ)  # of a new project, so that its usage can be checked
        with writing(lambda: Client(host.url, key), "rex") as ledger:
            recoveries = [_kill(run, host, ledger) for _ in range(run.trials)]
        outcome.trials = len(recoveries)
        outcome.figures["slowest recovery"] = round(max(recoveries), 1)
        outcome.faults += _miscounts(environ, ledger)
        with closing(Client(host.url, key)) as client:
            ledger.judge(client, outcome)
    if engine == "sqlite":
        outcome.faults += damage(run.directory)
    return outcome


def _kill(run: Run, host: Host, ledger: Ledger) -> float:
    """Kill a worker or the master; return the seconds until the next answer."""
    goal = ledger.answered + run.dice.choice(WRITES)
    wait_until(lambda: ledger.answered >= goal, "no write was answered")
    if run.dice.random() < MASTERS:
        return host.kill_master()
    with suppress(psutil.NoSuchProcess, IndexError):
        run.dice.choice(host.workers()).kill()
    return host.wait_until_it_serves()


def _miscounts(environ: dict[str, str], ledger: Ledger) -> list[str]:
    """Return a fault if an answer was not counted, or a request twice."""
    open_databases(read_settings(environ))
    try:
        latest = Project.select(fn.MAX(Project.id)).scalar()
        counted = (
            Usage.select(fn.SUM(Usage.served))
            .where(Usage.subject == f"project:{latest}")
            .scalar()
        )
    finally:
        databases.close()
    sent = len(ledger.statuses)
    if ledger.answered <= counted <= sent:
        return []
    return [f"{counted} counted, {ledger.answered} answered, {sent} sent"]


KILLS = tuple(
    Campaign(f"kills on {engine}", 300, 10, partial(play, engine))
    for engine in ("sqlite", "postgresql")
)
