"""The time of the last use of a key is written a moment later."""

from collections.abc import Callable
from pathlib import Path

import pytest

from petstore.models.callers import Caller
from petstore.models.keys import Key
from petstore.models.last_used import LastUsed
from petstore.models.projects import Project
from petstore.settings import read_settings
from petstore.storage.database import open_databases
from tests.harness import databases
from tests.harness.clocks import START_MS, Clock
from tests.harness.services import serving
from tests.harness.waiting import wait_until


def last_used_ms(key: str) -> int | None:
    return Key.by_prefix(key[:16]).last_used_ms


def test_notes_of_a_moment_are_written_together(key: str, clock: Clock):
    notes = LastUsed()
    notes.note(Caller.of(key))
    clock.move(seconds=0.5)
    notes.note(Caller.of(key))
    assert last_used_ms(key) is None
    notes.flush()
    assert last_used_ms(key) == START_MS + 500


def test_use_of_a_key_is_no_use_of_another(key: str, project: Project):
    another = Key.issue(project)
    notes = LastUsed()
    notes.note(Caller.of(key))
    notes.flush()
    assert last_used_ms(another) is None


@pytest.mark.parametrize(
    ("engine", "worker"),
    [("sqlite", "petstore.server.worker.EventLoopWorker"), ("postgresql", "gthread")],
)
def test_running_worker_writes_its_notes(
    new_database: Callable[[str], str], engine: str, worker: str, tmp_path: Path
):
    environ = {"DATABASE_URL": new_database(engine), "WEB_CONCURRENCY": "1"}
    with serving(tmp_path, environ, "--worker-class", worker) as service:
        assert service.send().is_served
        open_databases(read_settings(environ))
        wait_until(lambda: last_used_ms(service.key))
    databases.close()
