"""Schemathesis: responses to generated requests match the OpenAPI document."""

import os
import re
import sys
from pathlib import Path

from tests.harness.servers import ROOT
from tests.harness.services import Service
from tests.harness.shell import printed_by

OPTIONS = ("--checks", "all", "--seed", "20270317", "--max-examples", "2")


def test_schemathesis_finds_no_failures(service: Service, tmp_path: Path):
    program = Path(sys.executable).with_name("schemathesis")
    settings = ("--config-file", Path(__file__).with_name("schemathesis.toml"))
    key = ("--header", f"Authorization: Bearer {service.key}")
    command = [program, *settings, "run", *OPTIONS, *key, f"{service.url}/openapi.json"]
    environ = os.environ | {"PYTHONPATH": str(ROOT)}  # for what its settings name
    printed = printed_by(command, cwd=tmp_path, env=environ)
    assert re.search(r"Operations: +(\d+) selected / \1 total", printed)
    assert "warning" not in printed.lower()
    statuses = {line["status"] for line in service.events("request")}
    assert not statuses & {429, 500}
