"""Clients that other people's generators make of the interface description."""

import json
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.harness.clients import PETS
from tests.harness.documents import code_in, rows_of
from tests.harness.servers import ROOT
from tests.harness.services import serving
from tests.harness.shell import printed_by

MODULES = "node_modules/.bin/"

# In ten scripts, with marks that combine, separators, and as long as a name may be.
NAMES = [
    *("Straße", "Ἄργος", "Ёжик", "قطّة", "חָתוּל", "बिल्ली"),
    *("แมวน้ำ", "나비", "小黑", "たまゑ", "\ufeff.", "👩\u200d👧", "🐕" * 200),
    *("e\u0301 is not \u00e9", "a\u2028b\u2029c", "\u00a0x\u3000", "\u202eRTL\u202c"),
    "O'Brien; $1 ${x} \\ <b>\"",
]


def commands_in_docs(generator: str) -> list[str]:
    """Return the commands that docs/api.md gives for a generator."""
    rows = {row[0]: row[2] for row in rows_of("api.md", "Generated clients")}
    return code_in(rows[generator].replace("npx ", MODULES))


def names_read(
    sqlite_url: str, directory: Path, readers: str, commands: Sequence[str]
) -> list[str]:
    """Generate, compile and run a client, and return the names that it reads.

    The last command prints them as JSON; it finds `API` and `KEY` in its environment.
    """
    client = directory / "client"
    shutil.copytree(ROOT / readers, client)
    (client / "node_modules").symlink_to(Path(sys.prefix) / "node/node_modules")
    path = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
    environ = {"HOME": str(directory), "LANG": "C.UTF-8", "PATH": path}
    with serving(directory, {"DATABASE_URL": sqlite_url}) as service:
        for name in NAMES:
            service.send(PETS, {"name": name, "categoryId": 7})
        (client / "openapi.json").write_bytes(service.send("/openapi.json").content)
        environ |= {"API": f"{service.url}/v1", "KEY": service.key}
        for command in commands:
            printed = printed_by(shlex.split(command), cwd=client, env=environ)
    return json.loads(printed.rstrip("\n").split("\n")[-1])
