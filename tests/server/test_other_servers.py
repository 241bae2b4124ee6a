"""The application gives the same responses under other WSGI servers, in threads."""

import json
import socket
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.harness import servers
from tests.harness.clients import ORDERS, PETS
from tests.harness.services import Service, issue_key, serving
from tests.harness.wire import Wire, chunks, post

# Each with one engine: they reach the engine in the same way.
SERVERS = {
    "sync": "sqlite",
    "gthread": "postgresql",
    "waitress": "postgresql",
    "flask run": "sqlite",
}
# `-m MODULE`, with the time limits of the other servers.
PATIENTLY = """
import runpy, sys
from tests.harness.patience import be_patient

be_patient()
sys.argv = sys.argv[1:]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""
COMMANDS = {
    "waitress": ("waitress", "--listen=127.0.0.1:{port}", "wsgi:app"),
    "flask run": ("flask", "run", "--port", "{port}"),
}
REX = {"name": "Rex", "categoryId": 7}
LARGEST = json.dumps(REX).encode().ljust(65_536)
ONCE = {"Idempotency_Key": "once"}
FORM = {"Content_Type": "application/x-www-form-urlencoded"}
# What is sent one after the other, and the status of its answer.
CASES: list[tuple[int, str, Any, dict[str, Any]]] = [
    (201, PETS, REX, ONCE),
    (422, PETS, REX | {"name": "Bo"}, ONCE),
    (201, PETS, REX, {}),
    (200, "/v1/p%65ts/1", None, {}),
    (404, "/v1//pets", None, {}),
    (405, PETS, None, {"method": "DELETE"}),
    (201, ORDERS, {"petId": 1}, {}),
    (200, f"{ORDERS}/1", {"status": "completed"}, {"method": "PATCH"}),
    (200, "/v1/categories/7", {"name": "Dögs"}, {"method": "PUT"}),
    (401, PETS, None, {"Authorization": "Bearer pet_x"}),
    (413, PETS, "x" * 70_000, {}),
    (400, "/dashboard/sign-in", {}, FORM | {"Sec_Fetch_Site": "cross-site"}),
    (200, "/readyz", None, {}),
    (200, "/metrics", None, {}),
]
CHUNKED = "Transfer-Encoding: chunked"
# The server may also wait for the rest until the client has gone.
BROKEN_OFF = (b"", b"400")
FRAMED = [
    (CHUNKED, chunks(LARGEST), [b"201"]),
    (CHUNKED, chunks(LARGEST, b" "), [b"413"]),
    (CHUNKED, b"zz\r\n", BROKEN_OFF),
    (CHUNKED, b"5\r\n{", BROKEN_OFF),
    ("Content-Length: 9", b"{", BROKEN_OFF),
]


@contextmanager
def running(server: str, environ: dict[str, str], directory: Path) -> Iterator[Service]:
    if server not in COMMANDS:
        options = ("--worker-class", server, "--threads", "4")
        with serving(directory, environ, *options) as service:
            yield service
        return
    port = servers.free_port()
    command = [part.format(port=port) for part in COMMANDS[server]]
    command = [sys.executable, "-c", PATIENTLY, *command]
    with servers.running(command, port, directory / "log", environ):
        url = f"http://127.0.0.1:{port}"
        yield Service(SimpleNamespace(url=url), issue_key(environ))


@pytest.mark.parametrize("server", SERVERS)
def test_requests_get_the_usual_responses(
    server: str,
    new_database: Callable[[str], str],
    request: pytest.FixtureRequest,
    tmp_path: Path,
):
    environ = {"DATABASE_URL": new_database(SERVERS[server]), "WEB_CONCURRENCY": "1"}
    if SERVERS[server] == "postgresql":
        environ["REDIS_URL"] = request.getfixturevalue("redis_url")
    with running(server, environ, tmp_path) as service:
        for status, path, body, options in CASES:
            assert service.send(path, body, **options).status == status, path
        replayed = service.send(body=REX, **ONCE)
        assert replayed.headers["Idempotent-Replayed"] == "true"
        page = service.send(f"{PETS}?limit=1", X_Request_ID="mine")
        assert "after=1" in page.headers["Link"]
        assert page.headers["X-Request-ID"] == "mine"
        assert int(page.headers["X-RateLimit-Remaining"]) > 0
        allowed = service.send(method="OPTIONS").headers["Allow"].split(", ")
        assert sorted(allowed) == ["GET", "HEAD", "OPTIONS", "POST"]
        assert service.send(f"{PETS}/1", method="HEAD").content == b""
        for head, body, statuses in FRAMED:
            with Wire(service.url) as wire:
                wire.send(post(service.key, head), body).socket.shutdown(socket.SHUT_WR)
                assert wire.rest()[9:12] in statuses
        with ThreadPoolExecutor(8) as pool:
            pending = [pool.submit(service.send, body=REX) for _ in range(24)]
        assert len({each.result().json["id"] for each in pending}) == 24
