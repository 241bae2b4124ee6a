"""Requests and responses of the tests, recorded for the marks that look at all of them.

Where a test runs on both engines, SQLite's run is enough for all but the API.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tests.harness import servers
from tests.harness.responses import DIRECTORY
from tests.harness.servers import ROOT
from tests.harness.services import Service, serving
from tests.harness.stage import migrate
from tests.harness.visitors import Visitor
from tests.harness.wire import Wire, get, post

TESTS = (
    *("tests/api", "tests/openapi", "tests/dashboard", "tests/monitoring"),
    *("tests/quotas", "tests/hosting", "tests/test_headers.py"),
    *("tests/server/test_unreadable_requests.py", "tests/server/test_body_framing.py"),
    *("tests/server/test_keep_alive.py", "tests/server/test_streams.py"),
)
PYTEST = (
    "-m",
    "pytest",
    "--quiet",
    "-p",
    "tests.harness.responses",
    "--numprocesses=2",
)
OPTIONS = ("--dist=loadfile", "-k", "not postgresql or api")
STYLE = "/static/theme.css"
REX = b'{"name": "Rex", "categoryId": 7}'
MANY = 9_000  # animals, more than a response has in one piece


@cache
def recorded() -> tempfile.TemporaryDirectory:
    """Run the tests, and return a directory with a file for each process."""
    directory = tempfile.TemporaryDirectory(prefix="petstore-responses-")
    environ = os.environ | {DIRECTORY: directory.name}
    for command in ([*PYTEST, *OPTIONS, *TESTS], ["-m", __name__]):
        done = subprocess.run(
            [sys.executable, *command],
            cwd=ROOT,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    return directory


def files() -> Sequence[Path]:
    """Return the files with what was recorded."""
    return sorted(Path(recorded().name).glob("*.jsonl"))


def send_what_no_test_sends(service: Service, directory: Path) -> None:
    """Send requests whose responses differ in their bytes from those of the tests."""
    animals = directory / "animals.csv"
    animals.write_text("name,categoryId\n" + "Rex,7\n" * MANY)
    done = servers.flask(service.gunicorn.environ, "animals", "import", str(animals))
    assert done.returncode == 0, done.stderr
    Visitor(service.url, service.key).get("/animals.csv")
    for sent in requests_of(service.key):
        with Wire(service.url) as wire:
            assert wire.send(sent).rest().startswith(b"HTTP/1.1 ")
    with Wire(service.url) as wire:
        length = f"Content-Length: {len(REX)}"
        head = post(service.key, "Expect: 100-continue", length, "Connection: close")
        assert wire.send(head).line() == "HTTP/1.1 100 Continue"
        wire.send(REX).rest()


def requests_of(key: str) -> list[bytes]:
    """Return requests, each the last one of its connection."""
    close = "Connection: close"
    request = get(key, close)
    return [
        request,
        request.replace(b"HTTP/1.1", b"HTTP/1.0"),
        request.replace(b"GET", b"HEAD"),
        request.replace(b"GET", b"OPTIONS"),
        get(key, close, "Range: bytes=0-9", path=STYLE),
        get(key, close, "Range: bytes=999999-", path=STYLE),
        get(key, close, "If-None-Match: *", path=STYLE),
        get(key, close, path="/dashboard/animals.csv"),
        *(get(key, close, path=path) for path in ("/readyz", "/docs", "/openapi.json")),
    ]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="petstore-marks-") as name:
        place = Path(name)
        environ = {"DATABASE_URL": f"sqlite:///{place / 'petstore.db'}"}
        migrate(environ["DATABASE_URL"])
        with serving(place, environ) as service:
            send_what_no_test_sends(service, place)
