"""Reloads, recycled workers and shutdowns lose no request."""

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import psutil
import pytest

from tests.edge.wire import PATIENCE_SECONDS, Wire, get, post
from tests.load import Load, load
from tests.servers import Gunicorn

CLIENTS = 4  # of each kind
ROW_SECONDS = 2
EXPECT = "Expect: 100-continue"


def workers(service: Gunicorn, count: int, without: Sequence[int] = ()) -> list[int]:
    """Return the workers' PIDs once there are `count`, and none of `without`."""
    master = psutil.Process(service.process.pid)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        found = [child.pid for child in master.children()]
        if len(found) >= count and not set(found) & set(without):
            return found
        time.sleep(0.02)
    raise AssertionError(found)


@contextmanager
def all_served(service: Gunicorn, key: str) -> Iterator[Load]:
    """Run clients with and without keep-alive, and check that all get 200."""
    with (
        load(service.url, [key] * CLIENTS) as kept,
        load(service.url, [key] * CLIENTS, keeps_alive=False) as renewed,
    ):
        yield renewed
    for clients in (kept, renewed):
        assert len(clients.answers) > CLIENTS
        assert clients.statuses() == {200}


def test_a_reload_loses_no_request(serve: Callable[..., Gunicorn], key: str):
    service = serve(WEB_CONCURRENCY="2")
    with all_served(service, key) as clients:
        old = workers(service, 2)
        service.process.send_signal(signal.SIGHUP)
        workers(service, 2, without=old)
        clients.run(0.3)


def test_recycled_workers_lose_no_request(serve: Callable[..., Gunicorn], key: str):
    service = serve("--max-requests 100", WEB_CONCURRENCY="2")
    with all_served(service, key) as clients:
        workers(service, 2, without=workers(service, 2))
        clients.run(0.5)


@pytest.mark.parametrize("options", ["", "--max-requests 100"])
def test_restarts_lose_no_pipelined_request(
    serve: Callable[..., Gunicorn], key: str, options: str
):
    service = serve(options, WEB_CONCURRENCY="2")
    until = time.monotonic() + ROW_SECONDS
    while time.monotonic() < until:
        if not options:
            service.process.send_signal(signal.SIGHUP)
        with Wire(service.url) as wire:
            connection = "keep-alive"
            while connection == "keep-alive" and time.monotonic() < until:
                wire.send(get(key) * 10)
                answers = [wire.answer() for _ in range(10)]
                assert {answer.status for answer in answers} == {200}
                connection = answers[-1].headers["Connection"]


def test_busy_client_does_not_prevent_shutdown(
    serve: Callable[..., Gunicorn], key: str
):
    service = serve("--config tests/edge/impatient.py")
    with Wire(service.url) as wire:
        wire.send(get(key) * 5).answer()
        service.process.terminate()
        with pytest.raises((OSError, AssertionError)):  # the service disconnects
            go_on(wire, key, PATIENCE_SECONDS)
    assert service.process.wait(20) == 0


def go_on(wire: Wire, key: str, seconds: float) -> None:
    """Send requests for that many seconds without a pause."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        wire.send(get(key) * 5).answer()


def test_changing_the_number_of_workers_loses_no_request(
    serve: Callable[..., Gunicorn], key: str
):
    service = serve(WEB_CONCURRENCY="2")
    with all_served(service, key) as clients:
        for what in (signal.SIGTTIN, signal.SIGTTOU, signal.SIGTTOU, signal.SIGTTIN):
            service.process.send_signal(what)
            clients.run(0.3)


def test_requests_sent_before_shutdown_are_answered(
    serve: Callable[..., Gunicorn], key: str
):
    service = serve(WEB_CONCURRENCY="1")
    wires = [Wire(service.url).send(get(key)) for _ in range(40)]
    service.process.terminate()
    for wire in wires:
        answer = wire.answer()
        assert answer.status == 200
        wire.socket.close()
    assert service.process.wait(20) == 0


def test_request_begun_before_shutdown_can_be_finished(
    serve: Callable[..., Gunicorn], key: str
):
    service = serve(WEB_CONCURRENCY="1")
    body = b'{"name": "Rex", "categoryId": 7}'
    with Wire(service.url) as wire:
        wire.send(post(key, f"Content-Length: {len(body)}", EXPECT), body[:5])
        assert wire.line() == "HTTP/1.1 100 Continue"  # the request is being read
        assert wire.line() == ""
        service.process.terminate()
        time.sleep(3)  # longer than idle connections get at shutdown
        answer = wire.send(body[5:]).answer()
    assert (answer.status, answer.headers["Connection"]) == (201, "close")
    assert service.process.wait(20) == 0


def test_idle_connections_delay_shutdown_only_briefly(
    serve: Callable[..., Gunicorn], key: str
):
    service = serve(WEB_CONCURRENCY="1")
    with Wire(service.url), Wire(service.url) as used:
        assert used.send(get(key)).answer().status == 200
        service.process.terminate()
        assert service.process.wait(PATIENCE_SECONDS) == 0


def test_a_killed_worker_is_replaced(serve: Callable[..., Gunicorn], key: str):
    service = serve(WEB_CONCURRENCY="1")
    old = workers(service, 1)
    psutil.Process(old[0]).kill()
    with Wire(service.url) as wire:
        assert wire.send(get(key)).answer().status == 200
    workers(service, 1, without=old)


def test_workers_end_when_their_master_is_killed(
    serve: Callable[..., Gunicorn], key: str
):
    service = serve(WEB_CONCURRENCY="2")
    orphans = [psutil.Process(pid) for pid in workers(service, 2)]
    service.process.kill()
    gone, alive = psutil.wait_procs(orphans, timeout=10)
    assert (len(gone), alive) == (2, [])
