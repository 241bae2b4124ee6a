"""The units and alerts in deploy/, checked by systemd-analyze and promtool."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.servers import ROOT
from tests.harness.shell import printed_by

DEPLOY = ROOT / "deploy"
ALERTS = DEPLOY / "prometheus-alerts.yml"
TESTS = sorted((ROOT / "tests/together/e2e").glob("prometheus-*.test.yml"))
UNITS = ("petstore.service", "petstore-backup.service")


@pytest.fixture(params=UNITS)
def unit(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A delivered unit with the paths of this test."""
    text = (DEPLOY / request.param).read_text()
    for delivered, here in {
        "/opt/petstore/.venv/bin": str(Path(sys.executable).parent),
        "/opt/petstore": str(ROOT),
        "/var/lib/petstore": str(tmp_path),
    }.items():
        assert delivered in text, delivered
        text = text.replace(delivered, here)
    placed = tmp_path / request.param
    placed.write_text(text)
    return placed


def analyze(*arguments: object) -> str:
    """Return what systemd-analyze complains about; nothing may fail."""
    command = ["systemd-analyze", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stderr


def test_systemd_accepts_the_unit_and_rates_its_exposure_as_low(unit: Path):
    assert analyze("verify", unit) == ""
    # At most 2.0; "OK" would be up to 4.9.
    analyze("security", "--offline=true", "--threshold=20", unit)


def test_systemd_accepts_the_units_of_the_certificates_and_the_timers():
    units = ("certificates.service", "certificates.timer", "backup.timer")
    placed = [DEPLOY / f"petstore-{unit}" for unit in units]
    told = analyze("verify", *placed).splitlines()
    assert [line for line in told if "petstore-backup.service" not in line] == []


def test_each_alert_fires_when_it_should_and_not_before(tmp_path: Path):
    placed = [shutil.copy(file, tmp_path) for file in (ALERTS, *TESTS)][1:]
    printed_by(["promtool", "check", "rules", ALERTS])
    printed_by(["promtool", "test", "rules", *placed])
    told = "".join(file.read_text() for file in TESTS)
    for name in re.findall("- alert: (.+)", ALERTS.read_text()):
        assert told.count(f"alertname: {name}") >= 2, name
