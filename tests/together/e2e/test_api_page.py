"""The commands of docs/api.md run as they stand, and print what the page says."""

import re
from pathlib import Path

from tests.harness import servers
from tests.harness.servers import ROOT
from tests.harness.services import Service, serving
from tests.harness.shell import printed_in_shell

PAGE, README = ((ROOT / name).read_text() for name in ("docs/api.md", "README.md"))
ADDRESS = "http://127.0.0.1:8000"
BLOCKS = re.findall("```sh\n(.*?)```", PAGE, re.DOTALL)
# test_generated_clients.py runs those that generate a client.
COMMANDS = [block for block in BLOCKS if "openapi" not in block]
DEFINITIONS = "".join(re.findall(r"^(?:API=|api\(\)).*\n", README, re.MULTILINE))


def run(command: str, service: Service) -> str:
    """Return what a command prints; it must succeed."""
    script = (DEFINITIONS + command).replace(ADDRESS, service.url)
    environ = {"DATABASE_URL": service.gunicorn.environ["DATABASE_URL"]}
    printed = printed_in_shell(script, KEY=service.key, **environ)
    return printed.replace(service.url, ADDRESS)


def test_commands_print_what_the_page_says(sqlite_url: str, tmp_path: Path):
    environ = {"DATABASE_URL": sqlite_url}
    key = servers.flask(environ, "demo").stdout.strip()
    with serving(tmp_path, environ, key=key) as service:
        for block in COMMANDS:
            if not block.startswith("$ "):
                assert run(block, service)
                continue
            command, told = block.removeprefix("$ ").split("\n", 1)
            assert run(command, service).split() == told.split()
