"""Clients that tools of npm and PyPI make, as docs/api.md says, do what people do."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.generators import NAMES, commands_in_docs, read_by_client
from tests.harness.servers import ROOT
from tests.harness.services import Service, serving

READERS = ROOT / "tests/e2e/clients"
COMPILE = "node_modules/.bin/tsc --strict --skipLibCheck --module nodenext"
COMPILE += " --target es2022 --types node"
# How the client of each generator is compiled and run.
COMPILE_AND_READ = {
    "openapi-typescript": (
        f"{COMPILE} openapi_typescript.mts",
        "node openapi_typescript.mjs",
    ),
    "hey-api, zod": (f"{COMPILE} hey_api_zod.ts", "node hey_api_zod.js"),
    "hey-api, valibot": (f"{COMPILE} hey_api_valibot.ts", "node hey_api_valibot.js"),
    "orval": (f"{COMPILE} orval.ts", "node orval.js"),
    "datamodel-codegen": ("python datamodel.py",),
    "openapi-python-client": (
        "python -W error -m compileall -q petstore_client",
        "python openapi_python_client_reader.py",
    ),
}


@pytest.fixture
def service(sqlite_url: str, tmp_path: Path) -> Iterator[Service]:
    with serving(tmp_path, {"DATABASE_URL": sqlite_url}) as service:
        yield service


@pytest.mark.parametrize("generator", COMPILE_AND_READ)
def test_client_compiles_and_reads_names_in_all_scripts(
    service: Service, tmp_path: Path, generator: str
):
    commands = [*commands_in_docs(generator), *COMPILE_AND_READ[generator]]
    assert read_by_client(service, commands, READERS, tmp_path / "client") == NAMES
