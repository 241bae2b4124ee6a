"""A balancer in front of hosts of the service, and clients that go through it."""

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from tests.harness.clients import Answer, Client
from tests.harness.waiting import wait_until

PAUSE_SECONDS = 0.01  # of a client, after each request


class Balancer:
    """Gives each request to one of the hosts, and drains those that it leaves out."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._urls: tuple[str, ...] = ()
        self._under_way: Counter[str] = Counter()
        self.served: Counter[str] = Counter()  # by URL

    def lead_to(self, *urls: str) -> None:
        """Give requests to these hosts alone, once the others have none left."""
        with self._lock:
            self._urls = urls
        wait_until(self._is_drained, "a request goes on")

    @contextmanager
    def host(self) -> Iterator[str]:
        """Choose the host of a request, which lasts as long as the block."""
        with self._lock:
            url = random.choice(self._urls)
            self._under_way[url] += 1
        try:
            yield url
        finally:
            with self._lock:
                self._under_way[url] -= 1
                self.served[url] += 1

    def _is_drained(self) -> bool:
        with self._lock:
            return set(+self._under_way) <= set(self._urls)


class BalancedClient(Client):
    """A client of one key whose requests a balancer gives to its hosts."""

    def __init__(self, balancer: Balancer, key: str, host: str) -> None:
        self._balancer, self._key, self._host = balancer, key, host
        self._clients: dict[str, Client] = {}

    def close(self) -> None:
        """Close all connections."""
        for client in self._clients.values():
            client.close()

    def send(
        self, method: str, path: str, body: object = None, **headers: str
    ) -> Answer:
        """Send a request to one of the hosts."""
        time.sleep(PAUSE_SECONDS)
        with self._balancer.host() as url:
            client = self._clients.setdefault(url, Client(url, self._key))
            return client.send(method, path, body, Host=self._host, **headers)
