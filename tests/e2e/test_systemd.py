"""The units in deploy/: checked by systemd-analyze; the service's commands run."""

import os
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from configparser import ConfigParser
from contextlib import closing, contextmanager
from pathlib import Path

import psutil
import pytest

from petstore.settings import read_settings
from tests.harness import servers, services
from tests.harness.load import load
from tests.harness.servers import ROOT, free_port
from tests.harness.waiting import wait_until

UNIT = ROOT / "deploy" / "petstore.service"
BACKUP = UNIT.with_name("petstore-backup.service")
UNIT_KINDS = ("service", "timer")
ENVIRONMENT = ROOT / "deploy" / "petstore.environment"


@pytest.fixture
def placed(tmp_path: Path) -> Path:
    """The unit of the service, with the paths and the port of this test."""
    return place(UNIT, tmp_path, {"PORT=8000": f"PORT={free_port()}"})


@pytest.fixture
def placed_backup(tmp_path: Path) -> Path:
    """The unit of the backup, with the paths of this test."""
    return place(BACKUP, tmp_path, {})


def place(unit: Path, directory: Path, more: dict[str, str]) -> Path:
    """Write a delivered unit with the paths of this test."""
    text = unit.read_text()
    for delivered, here in {
        "/opt/petstore/.venv/bin": str(Path(sys.executable).parent),
        "/opt/petstore": str(ROOT),
        "/var/lib/petstore": str(directory),
        **more,
    }.items():
        assert delivered in text, delivered
        text = text.replace(delivered, here)
    placed = directory / unit.name
    placed.write_text(text)
    return placed


@pytest.fixture
def lines(placed: Path) -> dict[str, str]:
    """The [Service] section of the unit."""
    unit = ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str
    unit.read_string(placed.read_text())
    return dict(unit["Service"])


@pytest.fixture
def environ(lines: dict[str, str]) -> dict[str, str]:
    """The environment variables that the unit and its environment file set."""
    told = shlex.split(lines["Environment"])
    told += shlex.split(ENVIRONMENT.read_text(), comments=True)
    return dict(pair.split("=", 1) for pair in told) | {"WEB_CONCURRENCY": "2"}


def analyze(*arguments: object) -> subprocess.CompletedProcess:
    return subprocess.run(
        ["systemd-analyze", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_systemd_accepts_the_unit(placed: Path):
    verified = analyze("verify", placed)
    assert (verified.returncode, verified.stderr) == (0, "")


def test_systemd_accepts_the_units_of_the_certificates():
    units = [UNIT.with_name(f"petstore-certificates.{kind}") for kind in UNIT_KINDS]
    verified = analyze("verify", *units)
    assert (verified.returncode, verified.stderr) == (0, "")


def test_systemd_accepts_the_units_of_the_backup(placed_backup: Path):
    verified = analyze("verify", placed_backup, BACKUP.with_suffix(".timer"))
    assert (verified.returncode, verified.stderr) == (0, "")


def test_systemd_rates_the_exposure_as_low(placed: Path, placed_backup: Path):
    for unit in (placed, placed_backup):
        judged = analyze("security", "--offline=true", "--threshold=20", unit)
        # At most 2.0; "OK" would be up to 4.9.
        assert judged.returncode == 0, judged.stdout


def test_backup_has_the_limits_of_the_service():
    service, backup = (
        unit.read_text().partition("\nStateDirectoryMode=")[2].partition("\n[")[0]
        for unit in (UNIT, BACKUP)
    )
    assert backup.strip() == service.strip()
    assert "CapabilityBoundingSet=" in backup


def test_environment_file_holds_only_known_settings(environ: dict[str, str]):
    lines = ENVIRONMENT.read_text().splitlines()
    named = {line.lstrip("#").partition("=")[0] for line in lines if "=" in line}
    asked = set()

    class Environment(dict):
        def get(self, name: str, default: str | None = None) -> str | None:
            asked.add(name)
            return default

    read_settings(Environment())
    assert named <= asked
    assert read_settings(environ).trusted_proxies == 1


@contextmanager
def started(lines: dict[str, str], environ: dict[str, str]) -> Iterator[psutil.Process]:
    """Run the service and yield it once it has notified systemd."""
    with _listening() as (notified, path):
        command = shlex.split(lines["ExecStart"].replace("${PORT}", environ["PORT"]))
        process = subprocess.Popen(
            command,
            cwd=lines["WorkingDirectory"],
            env=os.environ | environ | {"NOTIFY_SOCKET": path},
            stdout=subprocess.DEVNULL,
        )
        try:
            assert b"READY=1" in notified.recv(4096)
            servers.wait_for_answer(f"http://127.0.0.1:{environ['PORT']}")
            yield psutil.Process(process.pid)
        finally:
            process.terminate()
            assert process.wait(int(lines["TimeoutStopSec"])) == 0


@contextmanager
def _listening() -> Iterator[tuple[socket.socket, str]]:
    """Listen where systemd would, on an abstract socket that leaves no file."""
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as notified:
        name = f"petstore-{os.getpid()}"
        notified.bind(f"\0{name}")
        notified.settimeout(60)
        yield notified, f"@{name}"


def test_unit_starts_reloads_and_stops_without_losing_a_request(
    lines: dict[str, str], environ: dict[str, str]
):
    migrate = shlex.split(lines["ExecStartPre"])
    where = lines["WorkingDirectory"]
    subprocess.run(migrate, cwd=where, env=os.environ | environ, check=True)
    keys = [services.issue_key(environ) for _ in range(2)]
    assert lines["ExecReload"] == "/bin/kill -s HUP $MAINPID"
    with (
        started(lines, environ) as master,
        load(f"http://127.0.0.1:{environ['PORT']}", keys) as clients,
    ):
        clients.run(0.5)
        before = set(servers.children_of(master))
        master.send_signal(signal.SIGHUP)
        wait_until(
            lambda: not before & set(servers.children_of(master)), "no new workers"
        )
        clients.run(0.5)
    assert clients.statuses() == {200}
