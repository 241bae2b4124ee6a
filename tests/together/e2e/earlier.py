"""The release before this one: its commands, and its service under gunicorn."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.harness import servers
from tests.harness.releases import BEFORE, CHANGELOG, commit_of, release_before
from tests.harness.shell import printed_by

PATIENT = Path(__file__).with_name("patient_release.py")
BIN = BEFORE / ".venv" / "bin"
# To start the program is most of what a command costs.
RUN_EACH = """
import shlex, sys
from wsgi import app
run = app.test_cli_runner(catch_exceptions=False).invoke
for line in sys.stdin:
    done = run(args=shlex.split(line))
    print(done.output, end="")
    if done.exit_code:
        sys.exit(line)
"""


def require_installed() -> None:
    """Fail if `make e2e` has not installed the release before, or another one."""
    there = (BEFORE / "commit").read_text().strip()
    assert there == commit_of(release_before(CHANGELOG.read_text())), "run `make e2e`"


def flask(environ: Mapping[str, str], *commands: str) -> list[str]:
    """Run `flask` commands of the release before, and return the lines they print."""
    place = {"cwd": BEFORE, "env": os.environ | environ}
    command = [BIN / "python", "-c", RUN_EACH]
    return printed_by(command, input="\n".join(commands), **place).splitlines()


@contextmanager
def serving(environ: Mapping[str, str], log: Path) -> Iterator[str]:
    """Run the release before for the duration of the block; yield its base URL."""
    port = servers.free_port()
    url = f"http://127.0.0.1:{port}"
    options = ["--config", str(PATIENT), "--bind", f"127.0.0.1:{port}"]
    command = [str(BIN / "gunicorn"), *options, "wsgi:app"]
    with servers.running(command, port, log, dict(environ), BEFORE):
        servers.wait_for_answer(url)
        yield url
