"""What a service says about its counters, to clients and in its log."""

import json
import time
from urllib.request import urlopen

from tests.harness.clients import Answer, Client
from tests.harness.load import Load
from tests.harness.servers import Gunicorn
from tests.harness.waiting import wait_until


def counters_of(service: Gunicorn) -> str:
    with urlopen(f"{service.url}/readyz", timeout=5) as answer:
        return json.load(answer)["counters"]


def get(service: Gunicorn, key: str) -> Answer:
    with Client(service.url, key) as client:
        return client.get()


def add(service: Gunicorn, key: str) -> Answer:
    with Client(service.url, key) as client:
        return client.post({"name": "Rex", "categoryId": 7})


def left_from_now(clients: Load, key: str) -> list[int]:
    """Return what is left after each of the next requests with a key."""
    now = time.monotonic()
    wait_until(lambda: len(clients.left(key, now)) >= 5)
    return clients.left(key, now)


def countdown(left: list[int]) -> list[int]:
    """Return what was left after each of so many requests, if each was counted once."""
    return list(range(left[0], left[0] - len(left), -1))


def events(service: Gunicorn, name: str) -> list[dict]:
    lines = [line for line in service.log.read_text().splitlines() if name in line]
    return [json.loads(line) for line in lines]


def wait_for(service: Gunicorn, name: str, number: int = 1) -> None:
    """Wait until the service has logged so many events of a kind."""
    wait_until(lambda: len(events(service, name)) >= number)
