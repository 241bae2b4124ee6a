"""Schemathesis: responses to generated requests match the OpenAPI document."""

import os
import subprocess
import sys
from pathlib import Path

from tests.harness.servers import ROOT
from tests.harness.services import Service

OPTIONS = ("--checks", "all", "--seed", "20270317", "--max-examples", "2")


def test_schemathesis_finds_no_failures(service: Service, tmp_path: Path):
    run = subprocess.run(
        [
            *(Path(sys.executable).with_name("schemathesis"), "--config-file"),
            *(ROOT / "tests" / "schemathesis.toml", "run", *OPTIONS),
            *("--header", f"Authorization: Bearer {service.key}"),
            f"{service.url}/openapi.json",
        ],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},  # for what its settings name
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "Operations:       14 selected / 14 total" in run.stdout
    assert "warning" not in run.stdout.lower()
    statuses = {line["status"] for line in service.events("request")}
    assert not statuses & {429, 500}
