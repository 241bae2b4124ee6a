"""The application gives the same responses under other WSGI servers."""

import json
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.harness import servers
from tests.harness.clients import Answer
from tests.harness.services import Service, issue_key, serving
from tests.harness.wire import Wire, post

REX = {"name": "Rex", "categoryId": 7}
# Each kind with one engine: they reach the engine in the same way.
SERVERS = {"sync": "sqlite", "gthread": "postgresql", "flask run": "sqlite"}
# `python -m flask` with the time limits of the other servers.
FLASK = """
from flask.cli import main
from tests.harness.patience import be_patient

be_patient()
main()
"""


@pytest.fixture(scope="module", params=SERVERS)
def server(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def environ(
    server: str,
    new_database: Callable[[str], str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[dict[str, str]]:
    """Settings for SQLite alone, or for PostgreSQL with a Redis that nobody else uses.

    Other tests may have spent the quota of strangers.
    """
    environ = {
        "DATABASE_URL": new_database(SERVERS[server]),
        "WEB_CONCURRENCY": "1",
    }
    if SERVERS[server] == "sqlite":
        yield environ
        return
    with servers.redis(tmp_path_factory.mktemp("redis")) as url:
        yield environ | {"REDIS_URL": url}


@pytest.fixture(scope="module")
def running(
    server: str,
    environ: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Service]:
    if server == "flask run":
        with flask_run(environ) as url:
            yield Service(SimpleNamespace(url=url), issue_key(environ))
    else:
        options = ("--worker-class", server, "--threads", "4")
        directory = tmp_path_factory.mktemp("gunicorn")
        with serving(directory, environ, *options) as service:
            yield service


@pytest.fixture
def service(running: Service, environ: dict[str, str]) -> Service:
    """The running server, with a key of a new project."""
    return replace(running, key=issue_key(environ))


@contextmanager
def flask_run(environ: dict[str, str]) -> Iterator[str]:
    port = servers.free_port()
    command = [sys.executable, "-c", FLASK, "run", "--port", str(port)]
    with servers.running(command, port, environ=environ):
        yield f"http://127.0.0.1:{port}"


def seen(answer: Answer) -> tuple[int, str | None]:
    return answer.status, answer.json["code"] if answer.status >= 400 else None


def test_valid_requests_get_the_usual_responses(service: Service):
    made = service.send(body=REX, Idempotency_Key="once")
    again = service.send(body=REX, Idempotency_Key="once")
    assert (made.status, again.content) == (201, made.content)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert service.send().json == [made.json]
    assert int(service.send().headers["X-RateLimit-Remaining"]) > 0
    order = service.send("/v1/store/orders", {"petId": made.json["id"]})
    assert order.status == 201


def test_invalid_requests_get_the_usual_errors(service: Service):
    assert seen(service.send(Authorization="")) == (401, "missing_api_key")
    assert seen(service.send("/v1/pets/77")) == (404, "not_found")
    assert seen(service.send(method="DELETE")) == (405, "method_not_allowed")
    assert seen(service.send(body={})) == (400, "invalid_request")
    assert seen(service.send(body="x" * 70_000)) == (413, "body_too_large")


def test_chunked_body_over_the_limit_gets_413(service: Service):
    body = json.dumps(REX).encode().ljust(65_536)
    assert send_in_chunks(service, body) == 201
    assert send_in_chunks(service, body, b" ") == 413


def send_in_chunks(service: Service, *chunks: bytes) -> int:
    request = urllib.request.Request(
        f"{service.url}/v1/pets",
        iter(chunks),
        {"Authorization": f"Bearer {service.key}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_broken_body_is_no_fault_of_the_service(service: Service):
    chunked = post(service.key, "Transfer-Encoding: chunked")
    sized = post(service.key, "Content-Length: 9")
    for sent in (chunked + b"zz\r\n", chunked + b"5\r\n{", sized + b"{"):
        with Wire(service.url) as wire:
            wire.send(sent).socket.shutdown(socket.SHUT_WR)
            assert seen(wire.answer()) == (400, "invalid_request")


def test_paths_outside_the_api_are_served(service: Service):
    for path in ("/healthz", "/readyz", "/metrics", "/openapi.json", "/docs"):
        assert service.send(path).status == 200
    assert service.send("/readyz").json == {"status": "ok", "counters": "ok"}


def test_concurrent_requests_are_all_answered(service: Service):
    with ThreadPoolExecutor(8) as pool:
        pending = [pool.submit(service.send, body=REX) for _ in range(24)]
        assert len({each.result().json["id"] for each in pending}) == 24


def test_application_imports_no_server():
    program = (
        "import sys, wsgi\n"
        "print({'gunicorn', 'uvloop', 'httptools'} & set(sys.modules))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program],
        cwd=servers.ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout == "set()\n"
