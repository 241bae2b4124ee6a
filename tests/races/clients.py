"""Clients that come at the same moment."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPMessage
from typing import Any, Self
from urllib.parse import urlsplit

PETS = "/v1/pets"
TIMEOUT_SECONDS = 60


@dataclass(frozen=True)
class Answer:
    """What came back, and when its request was sent."""

    status: int
    headers: HTTPMessage
    body: Any
    sent_at: float

    @property
    def is_served(self) -> bool:
        """Whether the request was carried out."""
        return 200 <= self.status < 300


class Client:
    """One connection to one server, with a key."""

    def __init__(self, url: str, key: str) -> None:
        self._connection = HTTPConnection(urlsplit(url).netloc, timeout=TIMEOUT_SECONDS)
        self._headers = {"Authorization": f"Bearer {key}"}

    def __enter__(self) -> Self:
        self._connection.connect()
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def get(self, path: str = PETS) -> Answer:
        """GET."""
        return self._send("GET", path, None, {})

    def post(self, pet: dict[str, Any]) -> Answer:
        """POST an animal."""
        kind = {"Content-Type": "application/json"}
        return self._send("POST", PETS, json.dumps(pet), kind)

    def _send(
        self, method: str, path: str, body: str | None, headers: dict[str, str]
    ) -> Answer:
        sent_at = time.time()
        self._connection.request(method, path, body, self._headers | headers)
        response = self._connection.getresponse()
        content = json.loads(response.read())
        return Answer(response.status, response.headers, content, sent_at)


def ask_at_once(urls: Iterable[str], key: str) -> list[Answer]:
    """Send one request to each address, all at the same moment."""
    urls = list(urls)
    barrier = threading.Barrier(len(urls), timeout=TIMEOUT_SECONDS)

    def ask(url: str) -> Answer:
        with Client(url, key) as client:
            barrier.wait()
            return client.get()

    return together([lambda url=url: ask(url) for url in urls])


def together(tasks: list[Callable[[], Any]]) -> list[Any]:
    """Run each task in a thread of its own; their results in the same order."""
    with ThreadPoolExecutor(len(tasks)) as pool:
        return list(pool.map(lambda task: task(), tasks))


def served_by_minute(answers: list[Answer]) -> list[tuple[int, int]]:
    """How many asked and how many were served in each minute that saw requests."""
    minutes = [answer.headers["X-RateLimit-Reset"] for answer in answers]
    served = Counter(
        minute
        for minute, answer in zip(minutes, answers, strict=True)
        if answer.is_served
    )
    return [(asked, served[minute]) for minute, asked in Counter(minutes).items()]
