"""The linters of the interface description, which npm installs."""

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.harness.servers import ROOT
from tests.harness.services import serving

RULES = ROOT / "tests/e2e/spectral.yaml"
PACKAGES = json.loads((ROOT / "tests/e2e/package.json").read_text())["dependencies"]
MODULES = Path(sys.prefix) / "node/node_modules"
LINTERS = {
    "spectral": (
        "lint",
        "-q",
        "--format=json",
        "--fail-severity=hint",
        "-r",
        RULES.name,
    ),
    "redocly": ("lint", "--format=json", "--max-problems=100"),
}


def lint(linter: str, sqlite_url: str, directory: Path) -> tuple[list[dict], dict]:
    """Return what a linter finds in the description of a running service, and that.

    The directory is one to work in, and the database a migrated one.
    """
    (directory / "node_modules").symlink_to(MODULES)
    (directory / RULES.name).write_text(RULES.read_text())
    environ = {
        "DATABASE_URL": sqlite_url,
        "PETSTORE_PRODUCTION_URL": "https://api.example.org/v1",
    }
    with serving(directory, environ) as service:
        description = service.send("/openapi.json")
    (directory / "openapi.json").write_bytes(description.content)
    done = subprocess.run(
        [f"node_modules/.bin/{linter}", *LINTERS[linter], "openapi.json"],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    printed = json.loads(done.stdout)
    findings = printed["problems"] if linter == "redocly" else printed
    assert findings or done.returncode == 0, done.stdout + done.stderr
    return findings, description.json


def left_out() -> list[str]:
    """Return the rules of Spectral that are switched off."""
    return re.findall("^  (owasp:.*): off$", RULES.read_text(), re.MULTILINE)
