"""Clients that read and add animals, whatever breaks, and remember every answer."""

import http.client
import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import NamedTuple
from urllib.parse import urlsplit

PAUSE_SECONDS = 0.02
TIMEOUT_SECONDS = 15
NO_ANSWER = 0


class Answer(NamedTuple):
    """What came back, and when; no status where the connection broke."""

    shopper: int
    status: int
    headers: http.client.HTTPMessage
    began_at: float
    seconds: float


@dataclass
class Shoppers:
    """So many clients for each key, one request after the other, until told to stop."""

    url: str
    keys: Sequence[str]
    adds: bool = True
    pause: float = PAUSE_SECONDS
    answers: list[Answer] = field(default_factory=list, repr=False)
    asked: list[str] = field(default_factory=list, repr=False)
    added: list[str] = field(default_factory=list, repr=False)
    has_ended: threading.Event = field(default_factory=threading.Event, repr=False)

    def run(self, seconds: float) -> None:
        """Let them go on for so long."""
        self.has_ended.wait(seconds)

    def since(self, began_at: float) -> list[Answer]:
        """The answers to what was asked from that moment on."""
        return [answer for answer in self.answers if answer.began_at >= began_at]

    def slowest(self) -> float:
        """The longest time that a client waited."""
        return max(answer.seconds for answer in self.answers)

    def _shop(self, number: int, key: str) -> None:
        connection = HTTPConnection(urlsplit(self.url).netloc, timeout=TIMEOUT_SECONDS)
        bearer = {"Authorization": f"Bearer {key}"}
        for turn in range(10**9):
            if self.adds and turn % 2:
                name = f"{number}-{turn}"
                self.asked.append(name)
                while not self._add(number, connection, bearer, name):
                    if self.has_ended.wait(self.pause):
                        break
            else:
                self._ask(number, connection, "GET", "/v1/pets?limit=1", bearer)
            if self.has_ended.wait(self.pause):
                break
        connection.close()

    def _add(
        self, number: int, connection: HTTPConnection, bearer: dict, name: str
    ) -> bool:
        headers = bearer | {"Content-Type": "application/json", "Idempotency-Key": name}
        body = json.dumps({"name": name, "categoryId": 1})
        is_added = self._ask(number, connection, "POST", "/v1/pets", headers, body)
        if is_added == 201:
            self.added.append(name)
        return is_added == 201

    def _ask(
        self,
        number: int,
        connection: HTTPConnection,
        method: str,
        path: str,
        headers: dict,
        body: str | None = None,
    ) -> int:
        began_at = time.monotonic()
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            response.read()
            status, received = response.status, response.headers
        except (OSError, http.client.HTTPException):
            connection.close()
            status, received = NO_ANSWER, http.client.HTTPMessage()
        seconds = time.monotonic() - began_at
        self.answers.append(Answer(number, status, received, began_at, seconds))
        return status


@contextmanager
def shoppers(
    url: str, keys: Sequence[str], *, adds: bool = True, pause: float = PAUSE_SECONDS
) -> Iterator[Shoppers]:
    """Clients for as long as the block runs, one for each of the keys."""
    everybody = Shoppers(url, keys, adds, pause)
    threads = [
        threading.Thread(target=everybody._shop, args=(number, key))
        for number, key in enumerate(keys)
    ]
    for thread in threads:
        thread.start()
    try:
        yield everybody
    finally:
        everybody.has_ended.set()
        for thread in threads:
            thread.join()


def names_of(url: str, key: str) -> list[str]:
    """The names of all animals of the key's project."""
    connection = HTTPConnection(urlsplit(url).netloc, timeout=TIMEOUT_SECONDS)
    names, after = [], 0
    while True:
        connection.request(
            "GET",
            f"/v1/pets?limit=100&after={after}",
            headers={"Authorization": f"Bearer {key}"},
        )
        page = json.loads(connection.getresponse().read())
        names += [pet["name"] for pet in page]
        if len(page) < 100:
            connection.close()
            return names
        after = page[-1]["id"]
