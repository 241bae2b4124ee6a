"""Deployment on a Procfile platform: a clean checkout and an empty environment."""

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest

from tests.harness.clients import Client
from tests.harness.servers import ROOT, children_of, free_port, stop, wait_for_port
from tests.harness.shell import printed_by
from tests.harness.stage import new_database
from tests.harness.waiting import wait_until

WORKERS = 2
PATIENCE_SECONDS = 25  # platforms kill after 30
PROCFILE = dict(
    line.split(": ", 1) for line in (ROOT / "Procfile").read_text().splitlines()
)


class Platform(NamedTuple):
    """A checkout with its dependencies installed, and its environment variables."""

    app: Path
    environ: dict[str, str]

    def run(self, command: str) -> str:
        """Run a command, which must succeed, and return what it prints."""
        return printed_by(shlex.split(command), cwd=self.app, env=self.environ)


@pytest.fixture(scope="module")
def platform(
    postgresql_server: str, redis_server: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Platform]:
    """A clone of the repository, whose `release` command has migrated the database."""
    app = tmp_path_factory.mktemp("platform") / "app"
    printed_by(["git", "clone", "--quiet", ROOT, app])
    printed_by([sys.executable, "-m", "venv", app.parent / "venv"])
    with new_database(postgresql_server, "platform") as database:
        environ = {
            "PATH": f"{app.parent / 'venv' / 'bin'}:{os.environ['PATH']}",
            "DATABASE_URL": database.replace("postgresql:", "postgres:"),
            "REDIS_URL": redis_server,
            "WEB_CONCURRENCY": str(WORKERS),
            "PETSTORE_TRUSTED_PROXIES": "1",
        }
        platform = Platform(app, environ)
        platform.run("pip install --quiet -r requirements.txt")
        assert "applied " in platform.run(PROCFILE["release"])
        yield platform


@pytest.fixture(scope="module")
def key(platform: Platform) -> str:
    """A key of a project, created by one-off commands."""
    platform.run("flask projects create Shelter")
    return platform.run("flask keys create").strip()


def test_web_serves_logs_to_stdout_and_stops_cleanly(platform: Platform, key: str):
    before, port = set(platform.app.rglob("*")), free_port()
    outputs = [platform.app.with_name(name) for name in ("stdout", "stderr")]
    with outputs[0].open("wb") as stdout, outputs[1].open("wb") as stderr:
        web = subprocess.Popen(
            shlex.split(PROCFILE["web"]),
            cwd=platform.app,
            env=platform.environ | {"PORT": str(port)},
            stdout=stdout,
            stderr=stderr,
        )
    try:
        with Client(f"http://127.0.0.1:{port}", key) as client:
            wait_for_port(port, web)
            ready = {"status": "ok", "counters": "ok"}
            wait_until(lambda: client.get("/readyz").json == ready)
            # With its usual limits, the service may ask a client to retry.
            wait_until(lambda: client.add_pets(1))
        # The first worker answers before gunicorn has forked the second one.
        master = psutil.Process(web.pid)
        wait_until(lambda: len(children_of(master)) == WORKERS, else_="workers missing")
        web.send_signal(signal.SIGTERM)
        assert web.wait(PATIENCE_SECONDS) == 0
    finally:
        stop(web)
    lines, told = (map(json.loads, each.read_text().splitlines()) for each in outputs)
    assert "/v1/pets" in [line.get("route") for line in lines]
    # Only gunicorn's own messages go to stderr.
    assert {line["event"] for line in told} == {"gunicorn"}
    made = {path for path in set(platform.app.rglob("*")) - before if path.is_file()}
    assert {path.suffix for path in made} <= {".pyc"}
