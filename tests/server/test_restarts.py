"""Reloads, recycled workers and shutdowns lose no request."""

import signal
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import NoReturn

import pytest

from tests.harness.load import load
from tests.harness.servers import Gunicorn
from tests.harness.waiting import wait_until
from tests.harness.wire import Wire, connected, get, post

CLIENTS, PAUSE_SECONDS = 4, 0.3
SENT = 40
IDLE, STOPPED_WITHIN_SECONDS = 1000, 1.5
BODY = b'{"name": "Rex", "categoryId": 7}'


@pytest.fixture(scope="module")
def two(serve_all: Callable[..., Gunicorn]) -> Gunicorn:
    """A service with two workers, which a test may replace."""
    return serve_all(WEB_CONCURRENCY="2")


@pytest.mark.parametrize("keeps_alive", [True, False])
def test_replaced_workers_lose_no_request(two: Gunicorn, key: str, keeps_alive: bool):
    with load(two.url, [key] * CLIENTS, keeps_alive=keeps_alive) as clients:
        for change in (Gunicorn.reload, change_the_number):
            clients.run(PAUSE_SECONDS)
            change(two)
        clients.run(PAUSE_SECONDS)
    assert clients.statuses() == {200}


def change_the_number(service: Gunicorn) -> None:
    """Add a worker and end one."""
    old = service.workers
    service.master.send_signal(signal.SIGTTIN)
    service.wait_for_workers(len(old) + 1)
    service.master.send_signal(signal.SIGTTOU)
    wait_until(lambda: len(service.workers) == len(old), "no worker ends")


def test_a_killed_worker_is_replaced(two: Gunicorn, key: str):
    killed, *_ = two.wait_for_workers(2)
    killed.kill()
    with Wire(two.url) as wire:
        assert wire.send(get(key)).answer().status == 200
    two.wait_for_workers(2, without=[killed])


def connect_again_and_again(port: int) -> NoReturn:
    while True:
        socket.create_connection(("127.0.0.1", port)).close()


def test_shutdown_finishes_requests_and_closes_idle_connections(
    serve: Callable[..., Gunicorn], key: str
):
    service = serve()
    with ExitStack() as stack:
        unused, used, begun, *sent = (
            stack.enter_context(Wire(service.url)) for _ in range(3 + SENT)
        )
        assert used.send(get(key)).answer().status == 200
        head = post(key, f"Content-Length: {len(BODY)}", "Expect: 100-continue")
        begun.send(head, BODY[:5])
        assert [begun.line(), begun.line()] == ["HTTP/1.1 100 Continue", ""]
        for wire in sent:
            wire.send(get(key))
        service.process.terminate()
        assert {wire.answer().status for wire in sent} == {200}
        assert unused.is_closed()
        assert used.is_closed()
        with pytest.raises(ConnectionRefusedError):
            connect_again_and_again(service.port)
        answer = begun.send(BODY[5:]).answer()
        assert (answer.status, answer.headers["Connection"]) == (201, "close")
    assert service.process.wait(20) == 0


def test_shutdown_waits_for_no_request_after_a_response_that_was_under_way(
    serve: Callable[..., Gunicorn], key: str
):
    service = serve("--keep-alive 60")
    with Wire(service.url, receive_buffer=4096) as wire:
        wire.send(get(key, path="/large-file")).socket.recv(1, socket.MSG_PEEK)
        service.process.terminate()
        with pytest.raises(ConnectionRefusedError):
            connect_again_and_again(service.port)
        assert wire.answer().headers["Connection"] == "keep-alive"
        assert wire.is_closed()
    assert service.process.wait(20) == 0


def test_worker_ends_when_its_master_is_killed(serve: Callable[..., Gunicorn]):
    service = serve()
    service.wait_for_workers(1)
    service.kill()


def test_shutdown_does_not_wait_for_idle_connections(
    serve: Callable[..., Gunicorn], key: str
):
    service = serve()
    with connected(service.url, *[get(key, path="/healthz")] * IDLE) as wires:
        assert {wire.answer().status for wire in wires} == {200}
        started = time.monotonic()
        service.process.terminate()
        assert service.process.wait(20) == 0
        assert time.monotonic() - started < STOPPED_WITHIN_SECONDS
        assert all(wire.is_closed() for wire in wires)
