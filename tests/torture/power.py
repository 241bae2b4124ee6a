"""The campaign of power cuts on SQLite: no write is lost, no file is damaged."""

import pickle
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import peewee

from petstore.models.orders import OrderTable
from petstore.models.pets import PetTable
from tests.harness.campaign import Campaign, Run
from tests.harness.clients import ORDERS, PETS, Answer, Client
from tests.harness.recorder import LOG
from tests.harness.services import issue_key, serving
from tests.harness.stage import damage, migrate, opened
from tests.harness.waiting import wait_until
from tests.harness.writers import writing
from tests.torture.disk import Disk, Line, lines

CUTS = 5  # per recording; the next one starts with what the last cut left
WRITES = 200  # at least, per recording
RECORDED = ("--worker-class", "tests.harness.recorder.RecordedWorker")

Rows = dict[tuple[str, int], str | int]  # by path and id: a name or an animal's id


class Witness(Client):
    """A client that adds acknowledged writes to the log."""

    def __init__(self, url: str, key: str, log: Path) -> None:
        super().__init__(url, key)
        self._log = log

    def send(self, method: str, path: str, *more: Any, **headers: str) -> Answer:
        """Send a request and log it if it was acknowledged."""
        answer = super().send(method, path, *more, **headers)
        if answer.status == 201:
            with self._log.open("ab", buffering=0) as log:
                log.write(pickle.dumps(("acknowledged", path, answer.json)))
        return answer


def _power_cuts(run: Run) -> None:
    disk, acknowledged, length = run.directory / "disk", Rows(), 0
    disk.mkdir()
    environ = {"DATABASE_URL": f"sqlite:///{disk / 'petstore.db'}"}
    migrate(environ["DATABASE_URL"])
    key = issue_key(environ)
    for _ in range(0, run.trials, CUTS):
        before = Disk(disk)
        log = list(lines(_record(run, environ, key)))
        cuts = sorted(run.dice.sample(range(len(log)), CUTS))
        for start, cut in zip([0, *cuts], cuts, strict=False):
            for place, line in log[start:cut]:
                _play(before, acknowledged, place, line)
            shutil.rmtree(disk)
            before.cut_power(run.dice, disk)
            _judge(run, disk, acknowledged)
        length += len(log)
    run.figures |= {"acknowledged": len(acknowledged), "lines": length}


def _record(run: Run, environ: dict[str, str], key: str) -> bytes:
    """Run the service on these files and return its log while it still runs."""
    log = run.directory / "log"
    log.unlink(missing_ok=True)
    recorded = environ | {LOG: str(log), "WEB_CONCURRENCY": "2"}
    name = f"{run.dice.random()}"
    with (
        serving(run.directory, recorded, *RECORDED, key=key) as service,
        writing(lambda: Witness(service.url, key, log), name) as ledger,
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


def _judge(run: Run, disk: Path, acknowledged: Rows) -> None:
    """Check a copy of the files, since opening a database repairs it."""
    run.done += 1
    copy = run.directory / "copy"
    shutil.copytree(disk, copy)
    try:
        run.faults += damage(copy)
        found = _rows(copy)
    except (peewee.DatabaseError, sqlite3.DatabaseError) as error:
        run.faults.append(f"cannot be read: {error}")
        return
    finally:
        shutil.rmtree(copy)
    run.lost += len(acknowledged.items() - found.items())
    names = [name for (path, _), name in found.items() if path == PETS]
    run.duplicated += len(names) - len(set(names))


def _rows(directory: Path) -> Rows:
    with opened(f"sqlite:///{directory}/petstore.db"):
        pets = PetTable.select(PetTable.id, PetTable.name).tuples()
        orders = OrderTable.select(OrderTable.id, OrderTable.pet_id).tuples()
        return {(PETS, row): name for row, name in pets} | {
            (ORDERS, row): pet for row, pet in orders
        }


POWER = (Campaign("power cuts on sqlite", 250, 15, _power_cuts),)
