"""The campaign of power cuts on SQLite: no write is lost, no file is damaged."""

import pickle
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import peewee

from petstore.models.orders import OrderTable
from petstore.models.pets import PetTable
from petstore.settings import read_settings
from petstore.storage.database import open_databases
from tests.harness import databases
from tests.harness.clients import ORDERS, PETS, Answer, Client
from tests.harness.services import issue_key
from tests.harness.waiting import wait_until
from tests.torture.campaign import Campaign, Outcome, Run
from tests.torture.disk import Disk, Line, lines
from tests.torture.recorder import LOG
from tests.torture.stage import Host, damage, migrate
from tests.torture.writers import writing

CUTS = 5  # per recording; the next one starts with what the last cut left
WRITES = 200  # at least, per recording
RECORDED = "--worker-class tests.torture.recorder.RecordedWorker"

Rows = dict[tuple[str, int], str | int]  # by path and id: a name or an animal's id


class Witness(Client):
    """A client that adds acknowledged writes to the log."""

    def __init__(self, host: Host, log: Path) -> None:
        super().__init__(host.url, host.key)
        self._log = log

    def send(self, method: str, path: str, *more: Any, **headers: str) -> Answer:
        """Send a request and log it if it was acknowledged."""
        answer = super().send(method, path, *more, **headers)
        if answer.status == 201:
            with self._log.open("ab", buffering=0) as log:
                log.write(pickle.dumps(("acknowledged", path, answer.json)))
        return answer


def _power_cuts(run: Run) -> Outcome:
    outcome = Outcome(figures={"acknowledged": 0, "lines": 0})
    disk, acknowledged = run.directory / "disk", Rows()
    disk.mkdir()
    url = f"sqlite:///{disk / 'petstore.db'}"
    migrate(url)
    key = issue_key({"DATABASE_URL": url})
    for _ in range(0, run.trials, CUTS):
        before = Disk(disk)
        log = list(lines(_record(run, disk, key)))
        cuts = sorted(run.dice.sample(range(len(log)), CUTS))
        for start, cut in zip([0, *cuts], cuts, strict=False):
            for place, line in log[start:cut]:
                _play(before, acknowledged, place, line)
            shutil.rmtree(disk)
            before.cut_power(run.dice, disk)
            _judge(outcome, disk, acknowledged, run.directory / "copy")
        outcome.figures["lines"] += len(log)
    outcome.figures["acknowledged"] = len(acknowledged)
    return outcome


def _record(run: Run, disk: Path, key: str) -> bytes:
    """Run the service on these files and return its log while it still runs."""
    log = run.directory / "log"
    log.unlink(missing_ok=True)
    environ = {"DATABASE_URL": f"sqlite:///{disk / 'petstore.db'}", LOG: str(log)}
    with (
        Host(run.directory, environ, RECORDED, key=key) as host,
        writing(lambda: Witness(host, log), f"{run.dice.random()}") as ledger,
    ):
        wait_until(lambda: ledger.answered >= WRITES, "few writes were answered")
        return log.read_bytes()


def _play(disk: Disk, acknowledged: Rows, place: int, line: Line) -> None:
    verb, path, *more = line
    if verb == "acknowledged":
        [body] = more
        acknowledged[path, body["id"]] = body["name" if path == PETS else "petId"]
    else:
        disk.play(place, line)


def _judge(outcome: Outcome, disk: Path, acknowledged: Rows, copy: Path) -> None:
    """Check a copy of the files, since opening a database repairs it."""
    outcome.trials += 1
    shutil.copytree(disk, copy)
    try:
        outcome.faults += damage(copy)
        found = _rows(copy)
    except (peewee.DatabaseError, sqlite3.DatabaseError) as error:
        outcome.faults.append(f"cannot be read: {error}")
        return
    finally:
        shutil.rmtree(copy)
    outcome.lost += len(acknowledged.items() - found.items())
    names = [name for (path, _), name in found.items() if path == PETS]
    outcome.duplicated += len(names) - len(set(names))


def _rows(directory: Path) -> Rows:
    open_databases(
        read_settings({"DATABASE_URL": f"sqlite:///{directory}/petstore.db"})
    )
    try:
        pets = PetTable.select(PetTable.id, PetTable.name).tuples()
        orders = OrderTable.select(OrderTable.id, OrderTable.pet).tuples()
        return {(PETS, row): name for row, name in pets} | {
            (ORDERS, row): pet for row, pet in orders
        }
    finally:
        databases.close()


POWER = (Campaign("power cuts on sqlite", 250, 15, _power_cuts),)
