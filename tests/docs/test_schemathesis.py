"""Schemathesis: responses to generated requests match the OpenAPI document."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import ROOT
from tests.services import Service, serving

EXAMPLES = 4
SEED = 20270317


@pytest.fixture
def service(sqlite_url: str, tmp_path: Path) -> Iterator[Service]:
    environ = {"DATABASE_URL": sqlite_url, "WEB_CONCURRENCY": "2"}
    environ["PETSTORE_BAN_AFTER"] = "1000000"
    with serving(tmp_path, environ) as service:
        yield service


def schemathesis(service: Service, directory: Path) -> subprocess.CompletedProcess:
    """Run all checks in all phases on every operation."""
    return subprocess.run(
        [
            *(Path(sys.executable).with_name("schemathesis"), "--config-file"),
            *(ROOT / "tests" / "schemathesis.toml", "run"),
            *("--checks", "all", "--seed", str(SEED)),
            *("--max-examples", str(EXAMPLES)),
            *("--header", f"Authorization: Bearer {service.key}"),
            f"{service.url}/openapi.json",
        ],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_schemathesis_finds_no_failures(service: Service, tmp_path: Path):
    run = schemathesis(service, tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "Operations:       9 selected / 9 total" in run.stdout
    assert "warning" not in run.stdout.lower()
    refused = [line for line in service.lines() if line.get("status") in (429, 500)]
    assert not refused
