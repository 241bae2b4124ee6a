"""Reloads, recycled workers and shutdowns lose no request."""

import signal
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import NoReturn

import psutil
import pytest

from tests.harness.load import Load, load
from tests.harness.servers import Gunicorn
from tests.harness.waiting import wait_until
from tests.harness.wire import PATIENCE_SECONDS, Wire, get, post

CLIENTS = 4  # of each kind
SENT = 40
BODY = b'{"name": "Rex", "categoryId": 7}'


@pytest.fixture(scope="module")
def two(serve_all: Callable[..., Gunicorn]) -> Gunicorn:
    """A service with two workers, which a test may replace."""
    return serve_all(WEB_CONCURRENCY="2")


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


def test_a_reload_loses_no_request(two: Gunicorn, key: str):
    with all_served(two, key) as clients:
        old = workers(two, 2)
        two.process.send_signal(signal.SIGHUP)
        workers(two, 2, without=old)
        clients.run(0.3)


def test_changing_the_number_of_workers_loses_no_request(two: Gunicorn, key: str):
    with all_served(two, key) as clients:
        for what in (signal.SIGTTIN, signal.SIGTTOU):
            two.process.send_signal(what)
            clients.run(0.3)


def test_a_killed_worker_is_replaced(two: Gunicorn, key: str):
    killed, *_ = workers(two, 2)
    psutil.Process(killed).kill()
    with Wire(two.url) as wire:
        assert wire.send(get(key)).answer().status == 200
    workers(two, 2, without=[killed])


def test_recycled_workers_lose_no_pipelined_request(
    serve: Callable[..., Gunicorn], key: str
):
    service = serve("--max-requests 50", WEB_CONCURRENCY="2")
    old = workers(service, 2)
    for _ in old * 2:
        with Wire(service.url) as wire:
            connection = "keep-alive"
            while connection == "keep-alive":
                wire.send(get(key) * 10)
                answers = [wire.answer() for _ in range(10)]
                assert {answer.status for answer in answers} == {200}
                connection = answers[-1].headers["Connection"]
    assert set(workers(service, 2)) != set(old)


def connect_again_and_again(port: int) -> NoReturn:
    while True:
        socket.create_connection(("127.0.0.1", port)).close()


def test_shutdown_finishes_requests_and_closes_idle_connections(
    serve: Callable[..., Gunicorn], key: str
):
    service = serve(limits={"linger_seconds": 0.2, "tick_seconds": 0.1})
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
            connect_again_and_again(int(service.environ["PORT"]))
        answer = begun.send(BODY[5:]).answer()
        assert (answer.status, answer.headers["Connection"]) == (201, "close")
    assert service.process.wait(20) == 0


def test_worker_that_is_still_starting_stops(serve: Callable[..., Gunicorn]):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        url = f"redis://127.0.0.1:{port}"
        service = serve(limits={"hit_seconds": 3.0}, REDIS_URL=url)
        old = workers(service, 1)
        service.process.send_signal(signal.SIGTTIN)
        (new,) = set(workers(service, 2)) - set(old)
        starting = psutil.Process(new)
        wait_until(lambda: port in ports_connected_to(starting))
        starting.terminate()
        workers(service, 2, without=[new])
    assert "Worker exiting" in service.log.read_text()


def ports_connected_to(process: psutil.Process) -> set[int]:
    return {c.raddr.port for c in process.net_connections() if c.raddr}


def test_busy_client_does_not_prevent_shutdown(
    serve: Callable[..., Gunicorn], key: str
):
    service = serve(limits={"request_seconds": 1.0, "linger_seconds": 0.5})
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


def test_worker_ends_when_its_master_is_killed(serve: Callable[..., Gunicorn]):
    service = serve()
    orphans = [psutil.Process(pid) for pid in workers(service, 1)]
    service.process.kill()
    _, alive = psutil.wait_procs(orphans, timeout=10)
    assert alive == []
