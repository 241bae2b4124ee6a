"""What the service owes to everybody, it does without the ways in that may be deleted.

It runs in a copy without them.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from petstore.extensions import EXTENSIONS
from tests.harness.deletion import copy_without

PROGRAM = """
import time
from dataclasses import replace

from petstore import create_app, events, timeouts
from petstore.models import flush_queues
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.models.stored_responses import StoredResponse

timeouts.LIMITS = replace(timeouts.LIMITS, outdated_seconds=0)
client = create_app().test_client()
project = Project.add("Shelter", None, Plan("free"))
key = Key.issue(project)
outdated = {"project": project, "path": "/", "key": "x", "fingerprint": b""}
StoredResponse.create(**outdated, created_ms=1)
client.get("/v1/pets", headers={"Authorization": f"Bearer {key}"})
assert client.get("/readyz").status_code == client.get("/healthz").status_code == 200
flush_queues()
assert Key.get().last_used_ms
ends = time.monotonic() + 60
while StoredResponse.select().exists() and time.monotonic() < ends:
    time.sleep(0.01)
assert not StoredResponse.select().exists()
events.emit("counters_lost")
"""


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the service, from which everything that may go is deleted."""
    directory = tmp_path_factory.mktemp("core")
    copy_without(EXTENSIONS, directory)
    return directory


def test_core_deletes_what_is_outdated_logs_and_tells_its_health(
    core: Path, new_database: Callable[[str], str]
):
    environ = {"DATABASE_URL": new_database("sqlite"), "PETSTORE_EXTENSIONS": "none"}
    command = [sys.executable, "-c", PROGRAM]
    ended = subprocess.run(
        command, check=False, cwd=core, env=environ, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    told = [(line["event"], line.get("path")) for line in lines]
    requests = [("request", f"/{path}") for path in ("v1/pets", "readyz", "healthz")]
    assert told == [("key_created", None), *requests, ("counters_lost", None)]
    assert lines[1]["key"] == lines[0]["key"]
