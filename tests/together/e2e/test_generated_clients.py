"""Clients that tools of npm and PyPI make, as docs/api.md says, do what people do."""

from pathlib import Path

import pytest

from tests.harness.generators import NAMES, commands_in_docs, names_read

READERS = "tests/together/e2e/clients"
COMPILE = "node_modules/.bin/tsc --strict --skipLibCheck --module nodenext"
COMPILE += " --target es2022 --types node"


def compiled(file: str) -> tuple[str, str]:
    """Return the commands that compile and run a reader in TypeScript."""
    return f"{COMPILE} {file}", f"node {file.removesuffix('ts')}js"


# How the client of each generator is compiled and run.
COMPILE_AND_READ = {
    "openapi-typescript": compiled("openapi_typescript.mts"),
    "@hey-api/openapi-ts, zod": compiled("hey_api_zod.ts"),
    "@hey-api/openapi-ts, valibot": compiled("hey_api_valibot.ts"),
    "orval": compiled("orval.ts"),
    "datamodel-code-generator": ("python datamodel.py",),
    "openapi-python-client": (
        "python -W error -m compileall -q petstore_client",
        "python openapi_python_client_reader.py",
    ),
}


@pytest.mark.parametrize("generator", COMPILE_AND_READ)
def test_names_in_all_scripts_are_read(sqlite_url: str, tmp_path: Path, generator: str):
    commands = [*commands_in_docs(generator), *COMPILE_AND_READ[generator]]
    assert names_read(sqlite_url, tmp_path, READERS, commands) == NAMES
