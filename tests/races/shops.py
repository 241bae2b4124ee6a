"""A project on a running service, and helpers that let its clients race."""

import os
import random
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psutil

from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from tests.clients import ORDERS, Answer, Client
from tests.races.walkers import Walk, Walker
from tests.servers import Gunicorn

FIRST_KILL_AFTER_SECONDS = 0.1  # early, since a walk may be short
PAUSE_BETWEEN_KILLS_SECONDS = 0.4
UNLIMITED = Plan("enterprise", 10**9, 10**9)


@dataclass
class Shop:
    """A project on a running service, and its clients."""

    server: Gunicorn
    key: str
    clients: list[Client] = field(default_factory=list)

    @classmethod
    def open(cls, server: Gunicorn) -> "Shop":
        """Create a project on the server, with unlimited quota."""
        return cls(server, Key.issue(Project.add("Shop", None, UNLIMITED)))

    def client(self) -> Client:
        """Return a new client of the project."""
        self.clients.append(Client(self.server.url, self.key))
        return self.clients[-1]

    def close(self) -> None:
        """Close all clients."""
        for client in self.clients:
            client.close()

    def orders_of(self, pet: int) -> list[dict]:
        """Return all orders of an animal."""
        orders = self.client().all_of(ORDERS)
        return [order for order in orders if order["petId"] == pet]

    def status_of(self, pet: int) -> str:
        """Return the status of an animal."""
        return self.client().ask("GET", f"/v1/pets/{pet}").json["status"]


def renew(clients: list[Client]) -> None:
    """Reconnect each client, since the server may close idle connections."""
    for client in clients:
        client.renew()


def at_once(clients: list[Client], ask: Callable[[int, Client], Answer]) -> list[Any]:
    """Call `ask` with all clients at the same moment; return the sorted outcomes."""
    barrier = threading.Barrier(len(clients))

    def wait_and_ask(number: int) -> Any:
        barrier.wait()
        return ask(number, clients[number]).outcome

    with ThreadPoolExecutor(len(clients)) as pool:
        return sorted(pool.map(wait_and_ask, range(len(clients))), key=str)


def walk(shop: Shop, *, pets: int, walkers: int, steps: int, seed: int) -> Walk:
    """Let concurrent clients send random requests, and return the record of them."""
    walk = Walk(shop.client().add_pets(pets))
    crowd = [Walker(shop.client(), walk, seed + number) for number in range(walkers)]
    with ThreadPoolExecutor(walkers) as pool:
        list(pool.map(lambda walker: walker.go(steps), crowd))
    return walk


@contextmanager
def killed_workers(server: Gunicorn, seed: int) -> Iterator[list[int]]:
    """Kill random workers while the block runs; yield the list of their pids."""
    over, killed, mind = threading.Event(), [], random.Random(seed)

    def kill() -> None:
        pause = FIRST_KILL_AFTER_SECONDS
        while not over.wait(pause):
            pause = PAUSE_BETWEEN_KILLS_SECONDS
            workers = psutil.Process(server.process.pid).children()
            if workers:
                victim = mind.choice(workers).pid
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        yield killed
    finally:
        over.set()
        killer.join()
