"""Deployment on a Procfile platform: a clean checkout and an empty environment."""

import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.e2e import encrypted
from tests.harness.clients import Client
from tests.harness.servers import (
    ROOT,
    children_of,
    free_port,
    stop,
    wait_for_answer,
    wait_for_port,
)
from tests.harness.waiting import wait_until

WORKERS = 2
PATIENCE_SECONDS = 25  # platforms kill after 30
UNSIGNED = "?ssl_cert_reqs=none"


@dataclass
class Platform:
    """A checkout with its dependencies installed, and its environment variables."""

    app: Path
    environ: dict[str, str]

    def run(self, command: str, **environ: str) -> subprocess.CompletedProcess:
        """Run a command to completion."""
        return subprocess.run(
            shlex.split(command),
            cwd=self.app,
            env=self.environ | environ,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )

    def lines_of_procfile(self) -> dict[str, str]:
        """Return the commands in the Procfile by process type."""
        lines = (self.app / "Procfile").read_text().splitlines()
        return dict(line.split(": ", 1) for line in lines)

    @contextmanager
    def web(self, **environ: str) -> Iterator["Web"]:
        """Run the service for the duration of the block."""
        web = Web(self.app.parent, free_port())
        with web.stdout.open("wb") as stdout, web.stderr.open("wb") as stderr:
            process = subprocess.Popen(
                shlex.split(self.lines_of_procfile()["web"]),
                cwd=self.app,
                env=self.environ | environ | {"PORT": str(web.port)},
                stdout=stdout,
                stderr=stderr,
            )
        try:
            wait_for_port(web.port, process)
            wait_for_answer(f"http://127.0.0.1:{web.port}")
            web.process = process
            yield web
        finally:
            stop(process)


class Web:
    """A running service."""

    process: subprocess.Popen

    def __init__(self, directory: Path, port: int) -> None:
        self.port = port
        self.stdout = directory / f"{port}.stdout"
        self.stderr = directory / f"{port}.stderr"

    def send(self, path: str, key: str = "", body: object = None) -> Any:
        """Send a GET, or a POST if there is a body, and return the JSON response.

        With its usual limits, the service may ask a client on a busy machine to retry.
        """
        answers = []

        def is_answered() -> bool:
            answers.append(client.send("POST" if body else "GET", path, body))
            return answers[-1].status != 503

        with Client(f"http://127.0.0.1:{self.port}", key) as client:
            wait_until(is_answered)
        return answers[-1].json


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """A clone of the repository, whose `release` command has migrated the database."""
    app = tmp_path_factory.mktemp("platform") / "app"
    subprocess.run(["git", "clone", "--quiet", ROOT, app], check=True)
    environment = [sys.executable, "-m", "venv", app.parent / "venv"]
    subprocess.run(environment, check=True)
    found = f"{app.parent / 'venv' / 'bin'}:{os.environ['PATH']}"
    with (
        tempfile.TemporaryDirectory(prefix="petstore-platform-") as places,
        encrypted.postgresql(made(Path(places, "postgresql"))) as database,
        encrypted.redis(made(Path(places, "redis"))) as redis,
    ):
        Path(places).chmod(0o755)
        environ = {
            "PATH": found,
            "DATABASE_URL": database,
            "REDIS_URL": redis + UNSIGNED,
            "WEB_CONCURRENCY": str(WORKERS),
            "PETSTORE_TRUSTED_PROXIES": "1",
        }
        platform = Platform(app, environ)
        installed = platform.run("pip install --quiet -r requirements.txt")
        assert installed.returncode == 0, installed.stderr
        released = platform.run(platform.lines_of_procfile()["release"])
        assert released.returncode == 0, released.stderr
        assert "applied 0042_names_of_categories" in released.stdout
        yield platform


def made(directory: Path) -> Path:
    directory.parent.chmod(0o755)
    directory.mkdir()
    return directory


@pytest.fixture(scope="module")
def key(platform: Platform) -> str:
    """A key of a project, created by one-off commands."""
    platform.run("flask projects create Shelter")
    return platform.run("flask keys create").stdout.strip()


def test_web_serves_logs_to_stdout_and_stops_cleanly(platform: Platform, key: str):
    before = set(platform.app.rglob("*"))
    with platform.web() as web:
        ready = {"status": "ok", "counters": "ok"}
        wait_until(lambda: web.send("/readyz") == ready)
        pet = web.send("/v1/pets", key, {"name": "Rex", "categoryId": 7})
        assert pet in web.send("/v1/pets", key)
        master = psutil.Process(web.process.pid)
        # The first worker answers before gunicorn has forked the second one.
        wait_until(lambda: len(children_of(master)) == WORKERS, else_="workers missing")
        web.process.send_signal(signal.SIGTERM)
        assert web.process.wait(PATIENCE_SECONDS) == 0
    lines = [json.loads(line) for line in web.stdout.read_text().splitlines()]
    assert "/v1/pets" in [line.get("route") for line in lines]
    # Only gunicorn's own messages go to stderr.
    told = [json.loads(line) for line in web.stderr.read_text().splitlines()]
    assert {line["event"] for line in told} == {"gunicorn"}
    made = {path for path in set(platform.app.rglob("*")) - before if path.is_file()}
    assert {path.suffix for path in made} <= {".pyc"}


def test_untrusted_redis_certificate_is_logged(platform: Platform, key: str):
    strict = platform.environ["REDIS_URL"].removesuffix(UNSIGNED)
    with platform.web(REDIS_URL=strict) as web:
        assert web.send("/readyz")["counters"] == "degraded"
        assert web.send("/v1/pets", key) is not None
    told = web.stdout.read_text()
    assert "CERTIFICATE_VERIFY_FAILED" in told
    assert encrypted.PASSWORD not in told
