"""What a service says about its counters, to clients and in its log."""

import json
from urllib.request import urlopen

from tests.clients import Answer, Client
from tests.servers import Gunicorn


def counters_of(service: Gunicorn) -> str:
    with urlopen(f"{service.url}/readyz", timeout=5) as answer:
        return json.load(answer)["counters"]


def get(service: Gunicorn, key: str) -> Answer:
    with Client(service.url, key) as client:
        return client.get()


def countdown(left: list[int]) -> list[int]:
    """Return what was left after each of so many requests, if each was counted once."""
    return list(range(left[0], left[0] - len(left), -1))


def events(service: Gunicorn, name: str) -> list[dict]:
    lines = [line for line in service.log.read_text().splitlines() if name in line]
    return [json.loads(line) for line in lines]
