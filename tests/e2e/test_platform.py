"""Deployment on a Procfile platform: a clean checkout and an empty environment.

PostgreSQL and Redis are as platforms offer them: TLS with untrusted certificates.
"""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pytest
import trustme

from tests.harness.clients import Client
from tests.harness.servers import (
    ROOT,
    children_of,
    free_port,
    running,
    stop,
    wait_for_answer,
    wait_for_port,
)
from tests.harness.waiting import wait_until

WORKERS = 2
PATIENCE_SECONDS = 25  # platforms kill after 30
PASSWORD = "Geheimnis"
UNSIGNED = "?ssl_cert_reqs=none"
POSTGRESQL = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
PROCFILE = dict(
    line.split(": ", 1) for line in (ROOT / "Procfile").read_text().splitlines()
)


class Web(NamedTuple):
    """A running service, and where it writes."""

    process: subprocess.Popen
    port: int
    stdout: Path
    stderr: Path

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


class Platform(NamedTuple):
    """A checkout with its dependencies installed, and its environment variables."""

    app: Path
    environ: dict[str, str]

    def run(self, command: str) -> str:
        """Run a command, which must succeed, and return what it prints."""
        done = subprocess.run(
            shlex.split(command),
            cwd=self.app,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    @contextmanager
    def web(self, **environ: str) -> Iterator[Web]:
        """Run the service for the duration of the block."""
        port = free_port()
        outputs = [self.app.with_name(f"{port}.{kind}") for kind in ("out", "err")]
        with outputs[0].open("wb") as stdout, outputs[1].open("wb") as stderr:
            process = subprocess.Popen(
                shlex.split(PROCFILE["web"]),
                cwd=self.app,
                env=self.environ | environ | {"PORT": str(port)},
                stdout=stdout,
                stderr=stderr,
            )
        try:
            wait_for_port(port, process)
            wait_for_answer(f"http://127.0.0.1:{port}")
            yield Web(process, port, *outputs)
        finally:
            stop(process)


def certificate(directory: Path) -> str:
    """Return the file of a certificate of an untrusted authority, with its key."""
    directory.mkdir()
    file = directory / "server.pem"
    issued = trustme.CA().issue_cert("127.0.0.1")
    issued.private_key_and_cert_chain_pem.write_to_path(file)
    file.chmod(0o600)
    return str(file)


@contextmanager
def redis(directory: Path) -> Iterator[str]:
    """Run Debian's Redis, which requires TLS, and yield its URL."""
    port, shown = free_port(), certificate(directory)
    command = ["redis-server", "--port", "0", "--tls-port", str(port), "--save", ""]
    command += ["--bind", "127.0.0.1", "--tls-auth-clients", "no"]
    command += ["--tls-cert-file", shown, "--tls-key-file", shown]
    command += ["--tls-ca-cert-file", shown, "--requirepass", PASSWORD]
    with running(command, port, directory / "redis.log"):
        yield f"rediss://:{PASSWORD}@127.0.0.1:{port}"


@contextmanager
def postgresql(directory: Path) -> Iterator[str]:
    """Run Debian's PostgreSQL, which requires TLS and a password; yield its URL."""
    port, shown, own = free_port(), certificate(directory), directory / "data"
    (directory / "password").write_text(PASSWORD)
    for path in (directory, *directory.iterdir()):
        shutil.chown(path, "postgres")
    as_owner = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    made = ["--pgdata", own, "--username=petstore", "--auth=scram-sha-256"]
    initdb = [*as_owner, POSTGRESQL[-1] / "initdb", *made]
    password = f"--pwfile={directory}/password"
    subprocess.run([*initdb, password], check=True, capture_output=True)
    (own / "pg_hba.conf").write_text("hostssl all all 127.0.0.1/32 scram-sha-256\n")
    command = [*as_owner, str(POSTGRESQL[-1] / "postgres"), "-D", str(own)]
    command += ["-p", str(port), "-k", "", "-c", "listen_addresses=127.0.0.1"]
    command += ["-c", "ssl=on", "-c", f"ssl_cert_file={shown}"]
    command += ["-c", f"ssl_key_file={shown}"]
    with running(command, port, directory / "postgresql.log"):
        yield f"postgres://petstore:{PASSWORD}@127.0.0.1:{port}/postgres?sslmode=require"


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """A clone of the repository, whose `release` command has migrated the database."""
    app = tmp_path_factory.mktemp("platform") / "app"
    subprocess.run(["git", "clone", "--quiet", ROOT, app], check=True)
    environment = [sys.executable, "-m", "venv", app.parent / "venv"]
    subprocess.run(environment, check=True)
    with tempfile.TemporaryDirectory(prefix="petstore-platform-") as places:
        Path(places).chmod(0o755)
        with (
            postgresql(Path(places, "postgresql")) as database,
            redis(Path(places, "redis")) as counters,
        ):
            environ = {
                "PATH": f"{app.parent / 'venv' / 'bin'}:{os.environ['PATH']}",
                "DATABASE_URL": database,
                "REDIS_URL": counters + UNSIGNED,
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
    assert PASSWORD not in told
