"""Linters find nothing in the interface description, apart from stated exceptions."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.documents import code_in, rows_of
from tests.harness.servers import ROOT
from tests.harness.services import serving

RULES = ROOT / "tests/e2e/spectral.yaml"
MODULES = Path(sys.prefix) / "node/node_modules"
# Each ends with 0 only if it finds nothing at all.
LINTERS = {
    "spectral": ("lint", "--fail-severity=hint", "--ruleset", RULES.name),
    "redocly": ("lint", "--max-problems=100", "--format=json"),
}


@pytest.fixture
def place(sqlite_url: str, tmp_path: Path) -> Path:
    """A directory with the description of a running service, and the linters."""
    (tmp_path / "node_modules").symlink_to(MODULES)
    (tmp_path / RULES.name).write_text(RULES.read_text())
    environ = {
        "DATABASE_URL": sqlite_url,
        "PETSTORE_PRODUCTION_URL": "https://api.example.org/v1",
    }
    with serving(tmp_path, environ) as service:
        content = service.send("/openapi.json").content
    (tmp_path / "openapi.json").write_bytes(content)
    return tmp_path


@pytest.mark.parametrize("linter", LINTERS)
def test_linter_finds_nothing(place: Path, linter: str):
    command = [f"node_modules/.bin/{linter}", *LINTERS[linter], "openapi.json"]
    done = subprocess.run(
        command, cwd=place, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    if linter == "redocly":  # which ends with 0 after a warning
        assert '"warnings": 0' in done.stdout


def test_each_exception_of_the_linters_is_documented():
    told = [code_in(row[0])[0] for row in rows_of("api.md", "Linters")]
    assert told == re.findall("^  (owasp:.*): off$", RULES.read_text(), re.MULTILINE)
