"""The units in deploy/, checked by systemd-analyze."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.servers import ROOT, free_port

UNIT = ROOT / "deploy" / "petstore.service"
BACKUP = UNIT.with_name("petstore-backup.service")
UNIT_KINDS = ("service", "timer")


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
