"""Clients that hang up at any moment of a write hold up nobody else."""

import json
import random
import socket
import struct
import threading
import time
from collections.abc import Callable
from functools import partial

from petstore.models.projects import Plan
from tests.harness.clients import Client
from tests.harness.crowds import at_once, going_on
from tests.harness.services import AMPLE
from tests.harness.wire import Wire, post
from tests.races.conftest import Service, of_postgresql

LEAVING = 2  # clients that hang up, and as many that stay
HANG_UPS = 100  # of each
MOST_SECONDS = 0.008  # about as long as a write takes
RESET = struct.pack("ii", 1, 0)  # closing resets the connection
REX = {"name": "Rex", "categoryId": 1}


def leave(url: str, key: str, seed: int) -> None:
    """Add animals, each with a category of its own, and await no answer."""
    dice = random.Random(seed)
    for _ in range(HANG_UPS):
        pet = json.dumps(REX | {"categoryId": dice.randrange(10**6)}).encode()
        with Wire(url) as wire:
            wire.send(post(key, f"Content-Length: {len(pet)}") + pet)
            time.sleep(dice.random() * MOST_SECONDS)
            wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)


@of_postgresql
def test_clients_that_leave_while_they_write_stop_nobody_else(
    service: Service,
    key_of: Callable[[Plan], str],
    clients: Callable[[int], list[Client]],
):
    leaving, writing = key_of(AMPLE), clients(LEAVING)
    statuses: list[int | None] = []

    def write(client: Client, has_ended: threading.Event) -> None:
        while not has_ended.is_set():
            statuses.append(client.post(REX).status)

    with going_on(*(partial(write, client) for client in writing)):
        url = service.urls[0]
        at_once(lambda seed: leave(url, leaving, seed), range(LEAVING))
    assert set(statuses) == {201}
    assert writing[0].post(REX).status == 201
    assert "Traceback" not in service.log
