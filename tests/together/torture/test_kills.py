"""Workers and masters are killed during writes: nothing acknowledged is lost."""

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import psutil
import pytest
from peewee import fn

from petstore.models.projects import Project
from petstore.quotas.database import DatabaseStorage
from tests.harness.services import Service, serving
from tests.harness.stage import opened
from tests.harness.waiting import wait_until
from tests.harness.writers import Ledger, writing
from tests.together.torture.conftest import TIMES

KILLS = 10
MASTERS = 0.1  # share of the kills
WRITES = range(1, 40)  # answered between two kills


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_killed_processes_lose_and_repeat_no_write(
    engine: str, new_database: Callable[[str], str], tmp_path: Path, dice: random.Random
):
    # Files that a killed master leaves behind are removed with the directory.
    url = new_database(engine)
    environ = {"DATABASE_URL": url, "WEB_CONCURRENCY": "2", "TMPDIR": str(tmp_path)}
    with serving(tmp_path, environ) as service:
        with writing(service.client, "rex") as ledger:
            for _ in range(KILLS * TIMES):
                kill(service, ledger, dice)
        # The requests that list the rows afterwards count as well.
        assert ledger.answered <= counted(environ) <= len(ledger.statuses)
        with service.client() as client:
            assert ledger.faults(client) == []
    if engine == "sqlite":
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as file:
            assert file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def kill(service: Service, ledger: Ledger, dice: random.Random) -> None:
    """Kill a worker or the master after some writes, and wait until one serves."""
    goal = ledger.answered + dice.choice(WRITES)
    wait_until(lambda: ledger.answered >= goal, "no write was answered")
    if dice.random() < MASTERS:
        service.gunicorn.kill()
        service.gunicorn.start()
    else:
        with suppress(psutil.NoSuchProcess, IndexError):
            dice.choice(service.workers).kill()
    service.gunicorn.wait_until_it_serves()


def counted(environ: dict[str, str]) -> int:
    """Return how many requests of the latest project were counted today."""
    with opened(environ):
        latest = Project.select(fn.MAX(Project.id)).scalar()
        return DatabaseStorage().get(f"{{project:{latest}}}/{24 * 60 * 60}")
