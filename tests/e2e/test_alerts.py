"""deploy/prometheus-alerts.yml, checked by promtool (Debian's prometheus)."""

import re
import shutil
import subprocess
from pathlib import Path

from tests.harness.servers import ROOT

RULES = ROOT / "deploy" / "prometheus-alerts.yml"
TESTS = sorted((ROOT / "tests" / "e2e").glob("prometheus-*.test.yml"))


def test_each_alert_fires_when_it_should_and_not_before(tmp_path: Path):
    placed = [shutil.copy(file, tmp_path) for file in (RULES, *TESTS)][1:]
    for command in (["check", "rules", RULES], ["test", "rules", *placed]):
        done = subprocess.run(
            ["promtool", *command], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    told = "".join(file.read_text() for file in TESTS)
    for name in re.findall("- alert: (.+)", RULES.read_text()):
        assert told.count(f"alertname: {name}") >= 2, name
