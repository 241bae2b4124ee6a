"""Deployment on a Procfile platform, which honcho stands in for.

The stores take only TLS, with certificates that nobody has signed. Nothing can be
written but in /tmp, and there is hardly any /dev/shm.
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest
import trustme

from tests.harness.clients import Client
from tests.harness.crowds import at_once
from tests.harness.documents import commands_below
from tests.harness.servers import ROOT, free_port, running, stop, wait_for_port
from tests.harness.shell import printed_by
from tests.harness.visitors import Visitor
from tests.harness.waiting import wait_until
from tests.harness.writers import writing

WORKERS = 2
WRITES = 100
MEMORY_BYTES = 512 * 1024**2
HONCHO = Path(sys.executable).with_name("honcho")
POSTGRESQL = max(Path("/usr/lib/postgresql").glob("*/bin"))
AS_POSTGRES = ("runuser", "-u", "postgres", "--")
[PROFILE] = commands_below("docs/operating.md", "On a platform")
CONTAINER = f"""
mount --bind /tmp /tmp
mount --bind "$PWD" "$PWD"
mount -o remount,bind,ro "$PWD"
mount -o remount,bind,ro /
mount -t tmpfs -o size=64k none /dev/shm
cd "$PWD"
exec {HONCHO} start --no-colour --no-prefix web
"""


class Platform(NamedTuple):
    """A checkout with its dependencies installed, and its environment variables."""

    app: Path
    environ: dict[str, str]

    def client(self, key: str) -> Client:
        """Return a client of `web`, whichever process that is."""
        return Client(f"http://127.0.0.1:{self.environ['PORT']}", key)

    def run(self, command: str, status: int = 0) -> str:
        """Run a command, and return what it prints."""
        options = {"cwd": self.app, "env": self.environ}
        return printed_by(shlex.split(command), status, **options)

    @contextmanager
    def web(self, **environ: str) -> Iterator["Web"]:
        """Start `web` in a container, and wait until it serves."""
        output = self.app.with_name("output")
        with output.open("wb") as file:
            process = subprocess.Popen(
                ["unshare", "--mount", "sh", "-ec", CONTAINER],
                cwd=self.app,
                env=self.environ | environ,
                stdout=file,
                stderr=file,
            )
        web = Web(process, output)
        try:
            wait_for_port(int(self.environ["PORT"]), process)
            # The first worker answers before gunicorn has forked the second one.
            wait_until(lambda: len(web.processes()) > WORKERS, else_="workers missing")
            yield web
        finally:
            stop(process)


class Web(NamedTuple):
    """A running `web`."""

    process: subprocess.Popen
    output: Path

    def processes(self) -> list[psutil.Process]:
        """Return gunicorn's master and its workers."""
        found = psutil.Process(self.process.pid).children(recursive=True)
        return [each for each in found if each.name() == "gunicorn"]

    def lines(self) -> list[dict]:
        """Return the lines of the log; others are those of honcho."""
        lines = self.output.read_text().splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]


@contextmanager
def postgresql(certificate: Path) -> Iterator[str]:
    """Run Debian's PostgreSQL, which takes only TLS, and yield its URL."""
    with tempfile.TemporaryDirectory(prefix="petstore-platform-") as directory:
        data, port = Path(directory, "data"), free_port()
        Path(directory).chmod(0o777)
        printed_by([*AS_POSTGRES, POSTGRESQL / "initdb", "-D", data, "-E", "UTF8"])
        for name, kind in (("server.key", "key"), ("server.crt", "crt")):
            content = certificate.with_suffix(f".{kind}").read_text()
            write = f"umask 077 && cat > {data / name}"
            printed_by([*AS_POSTGRES, "sh", "-c", write], input=content)
        (data / "pg_hba.conf").write_text(
            "local all all trust\nhostssl all all 127.0.0.1/32 trust\n"
        )
        command = [*AS_POSTGRES, POSTGRESQL / "postgres", "-D", data, "-p", port]
        command += ["-k", directory, "-c", "ssl=on", "-c", "fsync=off"]
        with running([*map(str, command)], port):
            yield f"postgres://postgres:x@127.0.0.1:{port}/postgres"


@contextmanager
def redis(certificate: Path) -> Iterator[str]:
    """Run Debian's Redis, which takes only TLS, and yield its URL."""
    port = free_port()
    command = ["redis-server", "--port", "0", "--save", "", "--tls-port", str(port)]
    command += ["--tls-auth-clients", "no", "--maxmemory-policy", "noeviction"]
    for option, kind in (
        ("cert-file", "crt"),
        ("key-file", "key"),
        ("ca-cert-file", "crt"),
    ):
        command += [f"--tls-{option}", str(certificate.with_suffix(f".{kind}"))]
    with running(command, port):
        yield f"rediss://127.0.0.1:{port}/0"


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """A clone of the repository, whose `release` command has migrated the database."""
    directory = tmp_path_factory.mktemp("platform")
    app, certificate = directory / "app", directory / "certificate"
    printed_by(["git", "clone", "--quiet", ROOT, app])
    printed_by([sys.executable, "-m", "venv", directory / "venv"])
    issued = trustme.CA().issue_cert("127.0.0.1")
    issued.private_key_pem.write_to_path(certificate.with_suffix(".key"))
    issued.cert_chain_pems[0].write_to_path(certificate.with_suffix(".crt"))
    with postgresql(certificate) as database, redis(certificate) as counters:
        environ = {
            "PATH": f"{directory / 'venv' / 'bin'}:{os.environ['PATH']}",
            "DATABASE_URL": database,
            "REDIS_URL": counters,
            "PORT": str(free_port()),
            "WEB_CONCURRENCY": str(WORKERS),
            "PETSTORE_TRUSTED_PROXIES": "1",
        }
        platform = Platform(app, environ)
        platform.run("pip install --quiet -r requirements.txt")
        assert "applied " in platform.run(f"{HONCHO} start release")
        profiled = f'{PROFILE} printf %s "$REDIS_URL"'
        url = printed_by(["sh", "-c", profiled], env=environ)
        yield Platform(app, environ | {"REDIS_URL": url})


@pytest.fixture(scope="module")
def key(platform: Platform) -> str:
    """A key of a project, created by one-off commands."""
    slug = platform.run("flask projects create Shelter --plan business").strip()
    return platform.run(f"flask keys create --project {slug}").strip()


def test_web_stops_under_load_before_it_is_killed(platform: Platform, key: str):
    new_client = partial(platform.client, key)
    with new_client() as idle, ExitStack() as writers:
        with platform.web() as web:
            ready = {"status": "ok", "counters": "ok"}
            wait_until(lambda: idle.get("/readyz").json == ready)
            ledger = writers.enter_context(writing(new_client, "rex"))
            wait_until(lambda: ledger.answered > WRITES)
            web.process.terminate()
            wait_until(lambda: web.process.poll() is not None)
            assert "SIGKILL" not in web.output.read_text()  # of honcho, after 5 seconds
            assert {line["event"] for line in web.lines()} == {"gunicorn", "request"}
        with platform.web():
            writers.close()
            assert ledger.faults(idle) == []


def test_two_workers_fit_a_small_container(platform: Platform, key: str):
    file = "name,categoryId\n" + "".join(f"Rex {n},1\n" for n in range(50_000))
    with platform.web() as web:
        url = f"http://127.0.0.1:{platform.environ['PORT']}"
        visitors = [Visitor(url, key) for _ in range(WORKERS)]
        for path in at_once(lambda each: each.upload(file), visitors):
            assert path.startswith("/dashboard/animals/import/")
        peaks = [peak_of(each) for each in web.processes()]
    assert sum(peaks) < MEMORY_BYTES


def peak_of(process: psutil.Process) -> int:
    """Return how many bytes of memory a process has had at most."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


def test_unsigned_certificate_is_told_with_its_remedy(platform: Platform, key: str):
    url, _, option = platform.environ["REDIS_URL"].partition("?")
    with platform.web(REDIS_URL=url), platform.client(key) as client:
        assert client.get().status == 200  # counted by each worker for itself
        wait_until(lambda: client.get("/readyz").json["counters"] == "degraded")
    told = Platform(platform.app, platform.environ | {"REDIS_URL": url})
    text = told.run("flask check", status=1)
    assert f"append ?{option} to REDIS_URL" in text
