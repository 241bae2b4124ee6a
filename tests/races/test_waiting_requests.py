"""Tests that a request waiting for a lock keeps its connection."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from petstore.settings import read_settings
from petstore.storage.database import open_databases
from tests.harness import databases, servers
from tests.harness.clients import ORDERS
from tests.races.shops import Shop, race

CLIENTS = 12
IDLE_SECONDS, BLOCKED_SECONDS = 1, 1.5


@pytest.fixture
def shop(race_stores: dict[str, str], tmp_path: Path) -> Iterator[Shop]:
    """A project on a service with a short keep-alive timeout."""
    environ = {"DATABASE_URL": race_stores["sqlite"], "WEB_CONCURRENCY": "1"}
    options = {"GUNICORN_CMD_ARGS": f"--keep-alive {IDLE_SECONDS}"}
    with servers.gunicorn(tmp_path, environ | options) as server:
        open_databases(read_settings(environ))
        shop = Shop.open(server)
        yield shop
        shop.close()
        databases.close()


def test_waiting_requests_outlast_the_keep_alive_timeout(
    shop: Shop, race_stores: dict[str, str]
):
    clients = [shop.client() for _ in range(CLIENTS)]
    [pet] = clients[0].add_pets(1)
    path = race_stores["sqlite"].removeprefix("sqlite:///")
    with closing(sqlite3.connect(path, check_same_thread=False)) as blocker:
        race(clients, lambda _, client: client.send("GET", ORDERS))
        blocker.execute("BEGIN IMMEDIATE")
        release = threading.Timer(BLOCKED_SECONDS, blocker.rollback)
        release.start()
        outcomes = race(
            clients, lambda _, client: client.send("POST", ORDERS, {"petId": pet})
        )
        release.join()
    assert outcomes == [201] + ["pet_not_available"] * (CLIENTS - 1)
