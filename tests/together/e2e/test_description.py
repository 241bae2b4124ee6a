"""Linters find nothing in the interface description, apart from stated exceptions."""

import json
import sys
from pathlib import Path

import pytest

from tests.harness.servers import ROOT
from tests.harness.services import serving
from tests.harness.shell import printed_by

RULES = ROOT / "tests/together/e2e/spectral.yaml"
MODULES = Path(sys.prefix) / "node/node_modules"
LINTERS = {
    "spectral": f"lint --fail-severity=hint -r {RULES.name} openapi.json",
    "redocly": "lint --format=json openapi.json",
}


@pytest.mark.parametrize("linter", LINTERS)
def test_linter_finds_nothing(sqlite_url: str, tmp_path: Path, linter: str):
    (tmp_path / "node_modules").symlink_to(MODULES)
    (tmp_path / RULES.name).write_text(RULES.read_text())
    environ = {
        "DATABASE_URL": sqlite_url,
        "PETSTORE_PRODUCTION_URL": "https://api.example.org/v1",
    }
    with serving(tmp_path, environ) as service:
        (tmp_path / "openapi.json").write_bytes(service.send("/openapi.json").content)
    command = [f"node_modules/.bin/{linter}", *LINTERS[linter].split()]
    printed = printed_by(command, cwd=tmp_path)
    assert linter != "redocly" or json.loads(printed)["problems"] == []
