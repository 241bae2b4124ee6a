"""deploy/prometheus-alerts.yml, checked by promtool (Debian's prometheus)."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.harness.servers import ROOT

RULES = ROOT / "deploy" / "prometheus-alerts.yml"
TESTS = sorted((ROOT / "tests" / "e2e").glob("prometheus-*.test.yml"))


def promtool(*arguments: object) -> subprocess.CompletedProcess:
    command = ["promtool", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_rules_are_valid():
    checked = promtool("check", "rules", RULES)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("file", TESTS, ids=lambda file: file.stem)
def test_each_alert_fires_when_it_should_and_not_before(file: Path, tmp_path: Path):
    shutil.copy(RULES, tmp_path)
    tested = promtool("test", "rules", shutil.copy(file, tmp_path))
    assert tested.returncode == 0, tested.stdout + tested.stderr


def test_each_alert_has_tests():
    told = "".join(file.read_text() for file in TESTS)
    names = [
        line.split()[-1]
        for line in RULES.read_text().splitlines()
        if "- alert:" in line
    ]
    assert len(names) == 9
    assert all(told.count(f"alertname: {name}") >= 2 for name in names)
