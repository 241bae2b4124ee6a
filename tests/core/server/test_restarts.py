"""Reloads, replaced workers and shutdowns lose no request."""

import signal
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack

from petstore.timeouts import Limits
from tests.harness.load import load
from tests.harness.servers import Gunicorn
from tests.harness.waiting import wait_until
from tests.harness.wire import Wire, get, post

CLIENTS, PAUSE_SECONDS = 4, 0.3
SENT = 40
TICK_SECONDS = Limits().tick_seconds
BODY = b'{"name": "Rex", "categoryId": 7}'


def test_replaced_workers_lose_no_request(serve: Callable[..., Gunicorn], key: str):
    two = serve(WEB_CONCURRENCY="2")
    with (
        load(two.url, [key] * CLIENTS) as clients,
        load(two.url, [key] * CLIENTS, keeps_alive=False) as others,
    ):
        for change in (Gunicorn.reload, change_the_number):
            time.sleep(PAUSE_SECONDS)
            change(two)
        time.sleep(PAUSE_SECONDS)
    assert clients.statuses() == others.statuses() == {200}


def change_the_number(service: Gunicorn) -> None:
    """Add a worker and end one."""
    old = service.workers
    service.master.send_signal(signal.SIGTTIN)
    service.wait_for_workers(len(old) + 1)
    service.master.send_signal(signal.SIGTTOU)
    wait_until(lambda: len(service.workers) == len(old), "no worker ends")


def test_a_killed_worker_is_replaced_and_workers_end_with_their_master(
    serve: Callable[..., Gunicorn], key: str
):
    service = serve(WEB_CONCURRENCY="2")
    killed, *_ = service.wait_for_workers(2)
    killed.kill()
    with Wire(service.url) as wire:
        assert wire.send(get(key)).answer().status == 200
    service.wait_for_workers(2, without=[killed])
    service.kill()


def is_refused(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionRefusedError:
        return True
    return False


def test_shutdown_finishes_requests_and_closes_idle_connections(
    serve: Callable[..., Gunicorn], key: str
):
    service = serve()
    with ExitStack() as stack:
        wires = (stack.enter_context(Wire(service.url)) for _ in range(3 + SENT))
        unused, used, begun = (next(wires) for _ in range(3))
        assert used.send(get(key)).answer().status == 200
        head = post(key, f"Content-Length: {len(BODY)}", "Expect: 100-continue")
        begun.send(head, BODY[:5])
        assert [begun.line(), begun.line()] == ["HTTP/1.1 100 Continue", ""]
        [worker] = service.workers
        worker.suspend()  # so that it stops before it has accepted these
        sent = [wire.send(get(key)) for wire in wires]
        service.process.terminate()
        time.sleep(TICK_SECONDS)
        worker.resume()
        assert {wire.answer().status for wire in sent} == {200}
        assert unused.is_closed()
        assert used.is_closed()
        wait_until(lambda: is_refused(service.port))
        answer = begun.send(BODY[5:]).answer()
        assert (answer.status, answer.headers["Connection"]) == (201, "close")
    assert service.process.wait(20) == 0


def test_shutdown_waits_for_no_request_after_a_response_that_was_under_way(
    serve: Callable[..., Gunicorn], key: str
):
    service = serve("--keep-alive 60")
    with Wire(service.url, receive_buffer=65_536) as wire:
        wire.send(get(key, path="/large-file")).socket.recv(1, socket.MSG_PEEK)
        service.process.terminate()
        wait_until(lambda: is_refused(service.port))
        assert wire.answer().headers["Connection"] == "keep-alive"
        assert wire.is_closed()
    assert service.process.wait(20) == 0
