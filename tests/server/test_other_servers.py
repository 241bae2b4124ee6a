"""The application gives the same responses under other WSGI servers, in threads."""

import json
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.harness import servers
from tests.harness.clients import ORDERS, PETS, Answer
from tests.harness.services import Service, issue_key, serving
from tests.harness.wire import Wire, post

# Each with one engine: they reach the engine in the same way.
SERVERS = {
    "sync": "sqlite",
    "gthread": "postgresql",
    "waitress": "postgresql",
    "granian": "sqlite",
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
    "granian": (
        *("granian", "--interface", "wsgi", "--blocking-threads", "4"),
        *("--port", "{port}", "wsgi:app"),
    ),
    "flask run": ("flask", "run", "--port", "{port}"),
}
PET, ORDER, CATEGORY = f"{PETS}/1", f"{ORDERS}/1", "/v1/categories/7"
REX = {"name": "Rex", "categoryId": 7}
FORM = "application/x-www-form-urlencoded"


def send(*arguments: Any, **options: Any) -> Callable[[Service], Any]:
    """Return a function that sends a request, and returns what it has led to."""
    return lambda service: seen(service.send(*arguments, **options))


def seen(answer: Answer) -> int | str | None:
    is_error = answer.headers["Content-Type"] == "application/json"
    return answer.outcome if is_error else answer.status


def header(name: str, *arguments: Any, **options: Any) -> Callable[[Service], Any]:
    return lambda service: service.send(*arguments, **options).headers[name]


def send_in_chunks(*chunks: bytes) -> Callable[[Service], int]:
    def send(service: Service) -> int:
        headers = {"Authorization": f"Bearer {service.key}"}
        headers["Content-Type"] = "application/json"
        url = f"{service.url}{PETS}"
        request = urllib.request.Request(url, iter(chunks), headers)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    return send


def break_off(head: str, body: bytes) -> Callable[[Service], bool]:
    """Return a function that sends a part of a body: if it is answered, then with 400.

    The server itself may refuse it, or wait for the rest until the client has gone.
    """

    def send(service: Service) -> bool:
        with Wire(service.url) as wire:
            wire.send(post(service.key, head), body).socket.shutdown(socket.SHUT_WR)
            answer = wire.rest()
        return not answer or answer.split(b" ")[1] == b"400"

    return send


def crowd(service: Service) -> int:
    with ThreadPoolExecutor(8) as pool:
        pending = [pool.submit(service.send, body=REX) for _ in range(24)]
        return len({each.result().json["id"] for each in pending})


LARGEST = json.dumps(REX).encode().ljust(65_536)
# What is done, and what it leads to: a status, a code of an error, or a value.
CASES: dict[str, tuple[Callable[[Service], Any], Any]] = {
    "animal is added": (send(body=REX, Idempotency_Key="once"), 201),
    "retry is repeated": (
        header("Idempotent-Replayed", body=REX, Idempotency_Key="once"),
        "true",
    ),
    "key with another body": (
        send(body=REX | {"name": "Bo"}, Idempotency_Key="once"),
        "idempotency_key_reused",
    ),
    "location of an animal": (header("Location", body=REX), f"{PETS}/2"),
    "list": (lambda service: len(service.send().json), 2),
    "next page": (
        lambda service: "after=1" in service.send(f"{PETS}?limit=1").headers["Link"],
        True,
    ),
    "animal": (header("Deprecation", PET), "@1764892800"),
    "head has no body": (lambda s: s.send(PET, method="HEAD").content, b""),
    "escaped path": (send("/v1/p%65ts/1"), 200),
    "doubled slash": (send("/v1//pets"), "not_found"),
    "other method": (send(method="DELETE"), "method_not_allowed"),
    "methods": (
        lambda service: sorted(
            service.send(method="OPTIONS").headers["Allow"].split(", ")
        ),
        ["GET", "HEAD", "OPTIONS", "POST"],
    ),
    "order": (send(ORDERS, {"petId": 1}), 201),
    "order is completed": (send(ORDER, {"status": "completed"}, method="PATCH"), 200),
    "category is named": (send(CATEGORY, {"name": "Dögs"}, method="PUT"), 200),
    "wrong key": (send(Authorization="Bearer pet_x"), "invalid_api_key"),
    "quota": (
        lambda service: int(service.send().headers["X-RateLimit-Remaining"]) > 0,
        True,
    ),
    "request id": (header("X-Request-ID", X_Request_ID="mine"), "mine"),
    "large body": (send(body="x" * 70_000), "body_too_large"),
    "largest body in chunks": (send_in_chunks(LARGEST), 201),
    "larger body in chunks": (send_in_chunks(LARGEST, b" "), 413),
    "broken chunk": (
        break_off("Transfer-Encoding: chunked", b"zz\r\n"),
        True,
    ),
    "chunk without an end": (
        break_off("Transfer-Encoding: chunked", b"5\r\n{"),
        True,
    ),
    "body without an end": (break_off("Content-Length: 9", b"{"), True),
    "form of another site": (
        send("/dashboard/sign-in", {}, Content_Type=FORM, Sec_Fetch_Site="cross-site"),
        400,
    ),
    "readiness": (lambda s: s.send("/readyz").json["counters"], "ok"),
    "metrics": (send("/metrics"), 200),
    "crowd": (crowd, 24),
}


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
    server: str, new_database: Callable[[str], str], tmp_path: Path
):
    with servers.redis(tmp_path) as redis:
        environ = {
            "DATABASE_URL": new_database(SERVERS[server]),
            "WEB_CONCURRENCY": "1",
        }
        if SERVERS[server] == "postgresql":
            environ["REDIS_URL"] = redis
        with running(server, environ, tmp_path) as service:
            found = {name: ask(service) for name, (ask, _) in CASES.items()}
    assert found == {name: expected for name, (_, expected) in CASES.items()}


def test_application_imports_no_server():
    program = (
        "import sys, wsgi\n"
        "print({'gunicorn', 'gevent', 'httptools'} & set(sys.modules))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program],
        cwd=servers.ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout == "set()\n"
