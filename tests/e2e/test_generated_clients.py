"""Clients that are generated as docs/api.md says do what people do by hand."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.servers import ROOT
from tests.harness.services import Service, serving

CLIENTS = ROOT / "tests/e2e/clients"
NODE, GENERATORS = Path(sys.prefix) / "node", Path(sys.prefix) / "generators/bin"
PAGE = (ROOT / "docs/api.md").read_text().replace("\\\n", "")
DESCRIPTION = "http://127.0.0.1:8000/openapi.json"
PYTHON, TSC = f"{GENERATORS}/python", "node_modules/.bin/tsc"
# What generates the types or `petstore_client`, and how each client is run then.
RUNS = {
    "openapi_python_client.py": (
        f"{GENERATORS}/openapi-python-client",
        (PYTHON, "openapi_python_client.py"),
    ),
    "openapi_typescript.ts": (
        "node_modules/.bin/openapi-typescript",
        (
            *(TSC, "--strict", "--module", "nodenext", "--target", "es2022"),
            *("--types", "node", "openapi_typescript.ts"),
        ),
        ("node", "openapi_typescript.js"),
    ),
}


def documented(generator: str, url: str) -> list[str]:
    """Return how the page calls a generator, for the description at this address."""
    name = Path(generator).name
    [options] = re.findall(f"^(?:npx|pipx run.*) {name} (.*)$", PAGE, re.MULTILINE)
    return [generator, *shlex.split(options.replace(DESCRIPTION, url))]


@pytest.fixture
def service(sqlite_url: str, tmp_path: Path) -> Iterator[Service]:
    with serving(tmp_path, {"DATABASE_URL": sqlite_url}) as service:
        yield service


@pytest.mark.parametrize("client", RUNS)
def test_client_creates_corrects_orders_and_pages(
    service: Service, tmp_path: Path, client: str
):
    (tmp_path / "node_modules").symlink_to(NODE / "node_modules")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    shutil.copy(CLIENTS / client, tmp_path)
    environ = {"API": f"{service.url}/v1", "KEY": service.key}
    environ["PATH"] = "/usr/local/bin:/usr/bin:/bin"
    generator, *runs = RUNS[client]
    for command in (documented(generator, f"{service.url}/openapi.json"), *runs):
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=environ,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    names = ["Max", *(f"Pet {number}." for number in range(4))]
    assert json.loads(done.stdout.splitlines()[-1]) == ["Max", "Ada", names]
