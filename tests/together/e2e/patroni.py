"""PostgreSQL on three hosts, with the files of deploy/ for Patroni, etcd and HAProxy.

The hosts are addresses of the loopback device.
"""

import os
import random
import shlex
import shutil
import subprocess
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.error import HTTPError, URLError

import psutil

from tests.harness.servers import ROOT, free_port, running, stop
from tests.harness.shell import printed_by
from tests.harness.waiting import wait_until

VERSION = max(path.name for path in Path("/usr/lib/postgresql").iterdir())
USER = ("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups")
PASSWORD = "pa55word"
ASK_SECONDS = 2


class Host:
    """A host with etcd, Patroni and PostgreSQL."""

    def __init__(self, directory: Path, address: str) -> None:
        self.address, self._directory = address, directory
        directory.mkdir()
        texts = {
            "/var/lib/postgresql/VERSION/petstore": str(directory / "data"),
            "/var/run/postgresql": str(directory),
            "10.0.0.": address.rpartition(".")[0] + ".",
            "ADDRESS": address,
            "PASSWORD": PASSWORD,
            "VERSION": VERSION,
        }
        for name in ("etcd.environment", "patroni.yml", "haproxy.cfg"):
            text = (ROOT / "deploy" / name).read_text()
            for delivered, here in texts.items():
                text = text.replace(delivered, here)
            (directory / name).write_text(text)

    def start_etcd(self) -> subprocess.Popen:
        lines = shlex.split((self._directory / "etcd.environment").read_text(), True)
        environ = dict(line.split("=", 1) for line in lines)
        return self._run("etcd", ETCD_DATA_DIR=f"{self._directory / 'etcd'}", **environ)

    def start(self) -> None:
        """Start Patroni, which starts PostgreSQL."""
        shutil.chown(self._directory, "postgres")
        command = [*USER, "patroni", f"{self._directory / 'patroni.yml'}"]
        self._patroni = self._run(*command, HOME=f"{self._directory}")

    def kill(self) -> None:
        """Kill Patroni and PostgreSQL, as when the power is cut."""
        self._patroni.kill()
        with suppress(FileNotFoundError, psutil.NoSuchProcess):
            file = self._directory / "data" / "postmaster.pid"
            psutil.Process(int(file.read_text().split()[0])).kill()
        self._patroni.wait()

    def is_(self, path: str) -> bool:
        """Return whether the host is what a path of Patroni's asks for."""
        with suppress(HTTPError, URLError, TimeoutError, ConnectionError):
            url = f"http://{self.address}:8008/{path}"
            with urllib.request.urlopen(url, timeout=ASK_SECONDS) as answer:
                return answer.status == 200
        return False

    def control(self, *words: str) -> str:
        """Run patronictl, and return what it prints."""
        return printed_by(["patronictl", "-c", self._directory / "patroni.yml", *words])

    @contextmanager
    def haproxy(self) -> Iterator[str]:
        """Run HAProxy, and yield where the database is."""
        file, port = self._directory / "haproxy.cfg", free_port()
        file.write_text(file.read_text().replace(":5000", f":{port}"))
        with running(["haproxy", "-db", "-f", str(file)], port):
            yield f"127.0.0.1:{port}"

    def _run(self, *command: str, **environ: str) -> subprocess.Popen:
        with (self._directory / "log").open("ab") as log:
            return subprocess.Popen(
                command, env=os.environ | environ, stdout=log, stderr=log
            )


@contextmanager
def three_hosts() -> Iterator[list[Host]]:
    """Run three hosts for the block, which replicate to each other."""
    # Whoever else runs these tests at the same time has another network.
    dice = random.SystemRandom()
    network = f"127.{dice.randrange(1, 255)}.{dice.randrange(255)}"
    with (
        tempfile.TemporaryDirectory(prefix="petstore-patroni-") as directory,
        ExitStack() as stack,
    ):
        Path(directory).chmod(0o755)
        numbers = [1, 2, 3]
        hosts = [Host(Path(directory, f"{n}"), f"{network}.{n}") for n in numbers]
        for host in hosts:
            stack.callback(stop, host.start_etcd())
        for host in hosts:
            host.start()
            stack.callback(host.kill)
        wait_until(lambda: sum(host.is_("replica") for host in hosts) == 2, "not three")
        yield hosts


def url_of(places: list[str]) -> str:
    """Return the URL of the database at these places."""
    return f"postgresql://postgres:{PASSWORD}@{','.join(places)}/postgres"


def primary_of(hosts: list[Host]) -> Host:
    """Return the host that writes, once another one may take over."""
    wait_until(lambda: any(host.is_("sync") for host in hosts), "none may take over")
    return next(host for host in hosts if host.is_("primary"))
