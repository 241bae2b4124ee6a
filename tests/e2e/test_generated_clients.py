"""A client whose types are generated as docs/api.md says does what people do."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from tests.harness.servers import ROOT
from tests.harness.services import serving

CLIENT = ROOT / "tests/e2e/clients/openapi_typescript.ts"
NODE = Path(sys.prefix) / "node/node_modules"
PAGE = (ROOT / "docs/api.md").read_text()
[OPTIONS] = re.findall("^npx openapi-typescript (.*)$", PAGE, re.MULTILINE)
COMPILER = "--strict --module nodenext --target es2022 --types node"
COMMANDS = (
    f"node_modules/.bin/openapi-typescript {OPTIONS}",
    f"node_modules/.bin/tsc {COMPILER} openapi_typescript.ts",
    "node openapi_typescript.js",
)


def test_client_creates_corrects_orders_and_pages(sqlite_url: str, tmp_path: Path):
    (tmp_path / "node_modules").symlink_to(NODE)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    shutil.copy(CLIENT, tmp_path)
    with serving(tmp_path, {"DATABASE_URL": sqlite_url}) as service:
        environ = {"API": f"{service.url}/v1", "KEY": service.key}
        environ["PATH"] = "/usr/local/bin:/usr/bin:/bin"
        for command in COMMANDS:
            done = subprocess.run(
                shlex.split(command.replace("http://127.0.0.1:8000", service.url)),
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
