"""Tests that a request waiting for a lock keeps its connection."""

import sqlite3
import threading
from contextlib import ExitStack, closing
from pathlib import Path

from tests.harness.clients import ORDERS
from tests.harness.crowds import race
from tests.harness.services import serving

CLIENTS = 12
IDLE_SECONDS, BLOCKED_SECONDS = 1, 1.5


def test_waiting_requests_outlast_the_keep_alive_timeout(
    race_stores: dict[str, str], tmp_path: Path
):
    url = race_stores["sqlite"]
    environ = {"DATABASE_URL": url, "WEB_CONCURRENCY": "1"}
    with ExitStack() as stack:
        idle = ("--keep-alive", str(IDLE_SECONDS))
        service = stack.enter_context(serving(tmp_path, environ, *idle))
        clients = [stack.enter_context(service.client()) for _ in range(CLIENTS)]
        [pet] = clients[0].add_pets(1)
        path = url.removeprefix("sqlite:///")
        connected = sqlite3.connect(path, check_same_thread=False)
        blocker = stack.enter_context(closing(connected))
        race(clients, [("GET", ORDERS)] * CLIENTS)
        blocker.execute("BEGIN IMMEDIATE")
        release = threading.Timer(BLOCKED_SECONDS, blocker.rollback)
        release.start()
        outcomes = race(clients, [("POST", ORDERS, {"petId": pet})] * CLIENTS)
        release.join()
    assert outcomes == [201] + ["pet_not_available"] * (CLIENTS - 1)
