"""Clients that go on asking while something breaks."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

PATH = "/v1/pets?limit=1"
PAUSE_SECONDS = 0.005


@dataclass(frozen=True)
class Answer:
    """What came of one request."""

    key: str
    status: int
    left: int  # of the day
    seconds: float


@dataclass
class Load:
    """One client for each key, until told to stop."""

    url: str
    keys: Sequence[str]
    keeps_alive: bool = True
    answers: list[Answer] = field(default_factory=list, repr=False)
    has_ended: threading.Event = field(default_factory=threading.Event, repr=False)

    def run(self, seconds: float) -> None:
        """Let it go on for so long."""
        self.has_ended.wait(seconds)

    def left(self, key: str) -> list[int]:
        """What the answers to a key said is left of its day, one after the other."""
        return [answer.left for answer in self.answers if answer.key == key]

    def statuses(self) -> set[int]:
        """Every status that was seen; 0 stands for no answer."""
        return {answer.status for answer in self.answers}

    def slowest(self) -> float:
        """The longest time that a client waited."""
        return max(answer.seconds for answer in self.answers)

    def _ask(self, key: str) -> None:
        connection = HTTPConnection(urlsplit(self.url).netloc, timeout=10)
        headers = {"Authorization": f"Bearer {key}"}
        if not self.keeps_alive:
            headers["Connection"] = "close"
        while not self.has_ended.wait(PAUSE_SECONDS):
            started = time.monotonic()
            try:
                connection.request("GET", PATH, headers=headers)
                answer = connection.getresponse()
                answer.read()
                status, left = answer.status, day_left(answer.headers["RateLimit"])
            except (OSError, HTTPException):
                status, left = 0, -1
            seconds = time.monotonic() - started
            self.answers.append(Answer(key, status, left, seconds))
        connection.close()


@contextmanager
def load(url: str, keys: Sequence[str], *, keeps_alive: bool = True) -> Iterator[Load]:
    """A load for as long as the block runs."""
    load = Load(url, keys, keeps_alive)
    threads = [threading.Thread(target=load._ask, args=(key,)) for key in keys]
    for thread in threads:
        thread.start()
    try:
        yield load
    finally:
        load.has_ended.set()
        for thread in threads:
            thread.join()


def day_left(field: str) -> int:
    """The requests left of the day, by the header RateLimit."""
    return int(field.partition('"day";r=')[2].partition(";")[0])
