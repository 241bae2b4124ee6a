"""What the service owes to everybody, it does without the ways in that may be deleted.

It runs in a copy without them.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from petstore.extensions import EXTENSIONS
from tests.harness.deletion import copy_without
from tests.harness.servers import ROOT

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


ALONE = """
import json, sys, threading
from petstore import create_app

app = create_app()
client = app.test_client()
answers = [client.get(path) for path in ("/", "/v1/pets", "/healthz", "/nothing")]
rules = list(app.url_map.iter_rules())
kinds = (app.before_request_funcs, app.after_request_funcs, app.teardown_request_funcs)
hooks = [hook for kind in kinds for each in kind.values() for hook in each]
found = {
    "routes": len(rules),
    "forms": [str(r) for r in rules if "POST" in r.methods and "/v1/" not in str(r)],
    "hooks": [hook.__module__ for hook in hooks],
    "cookies": [value for a in answers for value in a.headers.getlist("Set-Cookie")],
    "threads": [thread.name for thread in threading.enumerate()],
    "modules": sorted(sys.modules),
}
print(json.dumps(found), file=sys.stderr)
"""
MASTER = """
import json, sys, petstore.gunicorn_conf
print(json.dumps([*sys.modules]), file=sys.stderr)
"""
OF_EXTENSIONS = ("apispec", "dns", "mistune", "prometheus_client", "publicsuffixlist")


def run_alone(program: str, url: str) -> Any:
    """Run a program without extensions, and return the JSON that it prints."""
    environ = {"DATABASE_URL": url, "PETSTORE_EXTENSIONS": "none"}
    command = [sys.executable, "-c", program]
    ended = subprocess.run(
        command, check=True, cwd=ROOT, env=environ, capture_output=True, text=True
    )
    return json.loads(ended.stderr)


def test_without_extensions_there_is_nothing_of_them(new_database: Callable):
    served = run_alone(ALONE, new_database("sqlite"))
    assert served["routes"] <= 24
    assert served["forms"] == served["cookies"] == []
    places = {"petstore.web.application", "petstore.web.request_log", "petstore.api"}
    assert {*served["hooks"]} == places
    assert len(served["threads"]) <= 2  # the second one deletes what is outdated
    loaded = [name.split(".") for name in served["modules"]]
    assert not {name[0] for name in loaded} & {*OF_EXTENSIONS}
    assert not [name for name in loaded if name[:2] == ["petstore", "extensions"]][1:]


def test_master_of_gunicorn_loads_nothing_of_them(new_database: Callable):
    loaded = {name.split(".")[0] for name in run_alone(MASTER, new_database("sqlite"))}
    assert not loaded & {*OF_EXTENSIONS, "flask"}
