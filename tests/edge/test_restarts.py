"""Workers come and go without a request being lost."""

import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

import psutil
import pytest

from tests.edge.wire import Wire, get, post
from tests.load import Load, load
from tests.servers import Gunicorn

CLIENTS = 8
either_way = pytest.mark.parametrize(
    "keeps_alive", [True, False], ids=["keep-alive", "one request a connection"]
)


def workers(service: Gunicorn, count: int, without: Sequence[int] = ()) -> list[int]:
    """The workers, once there are so many and none of those."""
    master = psutil.Process(service.process.pid)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        found = [child.pid for child in master.children()]
        if len(found) >= count and not set(found) & set(without):
            return found
        time.sleep(0.02)
    raise AssertionError(found)


def assert_all_served(clients: Load) -> None:
    assert len(clients.answers) > CLIENTS
    assert clients.statuses() == {200}


@either_way
def test_a_reload_loses_no_request(
    serve: Callable[..., Gunicorn], key: str, keeps_alive: bool
):
    service = serve(WEB_CONCURRENCY="2")
    with load(service.url, [key] * CLIENTS, keeps_alive=keeps_alive) as clients:
        for _ in range(2):
            old = workers(service, 2)
            service.process.send_signal(signal.SIGHUP)
            workers(service, 2, without=old)
        clients.run(0.3)
    assert_all_served(clients)


@either_way
def test_recycled_workers_lose_no_request(
    serve: Callable[..., Gunicorn], key: str, keeps_alive: bool
):
    service = serve("--max-requests 100", WEB_CONCURRENCY="2")
    old = workers(service, 2)
    with load(service.url, [key] * CLIENTS, keeps_alive=keeps_alive) as clients:
        workers(service, 2, without=old)
        clients.run(1)
    assert_all_served(clients)


@pytest.mark.parametrize("options", ["", "--max-requests 100"])
def test_restarts_lose_no_request_of_a_row(
    serve: Callable[..., Gunicorn], key: str, options: str
):
    service = serve(options, WEB_CONCURRENCY="2")
    until = time.monotonic() + 5
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


def test_a_client_that_goes_on_and_on_does_not_keep_a_worker(
    serve: Callable[..., Gunicorn], key: str
):
    service = serve("--config tests/edge/impatient.py")
    with Wire(service.url) as wire:
        wire.send(get(key) * 5).answer()
        service.process.terminate()
        started = time.monotonic()
        with suppress(OSError, AssertionError):
            while time.monotonic() - started < 10:
                wire.send(get(key) * 5).answer()
        assert time.monotonic() - started < 10
    assert service.process.wait(20) == 0


@either_way
def test_more_and_fewer_workers_lose_no_request(
    serve: Callable[..., Gunicorn], key: str, keeps_alive: bool
):
    service = serve(WEB_CONCURRENCY="2")
    with load(service.url, [key] * CLIENTS, keeps_alive=keeps_alive) as clients:
        for what in (signal.SIGTTIN, signal.SIGTTOU, signal.SIGTTOU, signal.SIGTTIN):
            service.process.send_signal(what)
            clients.run(0.5)
    assert_all_served(clients)


def test_who_had_asked_before_the_end_is_answered(
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


def test_who_was_in_the_middle_of_a_request_at_the_end_may_finish_it(
    serve: Callable[..., Gunicorn], key: str
):
    service = serve(WEB_CONCURRENCY="1")
    body = b'{"name": "Rex", "categoryId": 7}'
    with Wire(service.url) as wire:
        wire.send(post(key, f"Content-Length: {len(body)}"), body[:5])
        time.sleep(0.3)  # for the service to have read it
        service.process.terminate()
        time.sleep(3)  # longer than it waits for those who have not begun
        answer = wire.send(body[5:]).answer()
    assert (answer.status, answer.headers["Connection"]) == (201, "close")
    assert service.process.wait(20) == 0


def test_who_says_nothing_delays_the_end_a_little(
    serve: Callable[..., Gunicorn], key: str
):
    service = serve(WEB_CONCURRENCY="1")
    with Wire(service.url), Wire(service.url) as used:
        assert used.send(get(key)).answer().status == 200
        started = time.monotonic()
        service.process.terminate()
        assert service.process.wait(20) == 0
        assert time.monotonic() - started < 8


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
