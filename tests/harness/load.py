"""Clients that send requests continuously and record every response."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tests.harness.clients import PETS, Answer, Client
from tests.harness.crowds import going_on
from tests.harness.waiting import wait_until

PATH = f"{PETS}?limit=1"
PAUSE_SECONDS = 0.005


@dataclass
class Load:
    """One client per key, sending requests until the end of the block."""

    url: str
    keys: Sequence[str]
    keeps_alive: bool = True
    adds: bool = False  # create a pet in every second turn, retrying until it succeeds
    pause_seconds: float = PAUSE_SECONDS
    path: str = PATH  # of the requests that create nothing
    answers: list[Answer] = field(default_factory=list, repr=False)
    answers_to: dict[str, list[Answer]] = field(default_factory=dict, repr=False)
    added: list[str] = field(default_factory=list, repr=False)

    def left(self, key: str, since: float = 0) -> list[int]:
        """Return what `left_today` says of the responses to a key."""
        return left_today(
            [a for a in self.answers_to.get(key, []) if a.sent_at >= since]
        )

    def left_from_now(self, key: str, count: int = 5) -> list[int]:
        """Return what is left after each of the next requests with a key."""
        now = time.monotonic()
        wait_until(lambda: len(self.left(key, now)) >= count, "no answers")
        return self.left(key, now)

    def statuses(self) -> set[int | None]:
        """Return all statuses seen; None stands for no response."""
        return {answer.status for answer in self.answers}

    def slowest(self) -> float:
        """Return the longest response time in seconds."""
        return max(answer.seconds for answer in self.answers)

    def _go_on(self, number: int, key: str, has_ended: threading.Event) -> None:
        turn = 0
        with Client(self.url, key) as client:
            send = partial(self._send, client, key)
            while not has_ended.wait(self.pause_seconds):
                turn += 1
                if not self.adds or turn % 2 == 0:
                    send("GET", self.path)
                    continue
                name = f"{number}-{turn}"
                pet, once = {"name": name, "categoryId": 1}, {"Idempotency-Key": name}
                while send("POST", PETS, pet, **once).status != 201:
                    if has_ended.wait(self.pause_seconds):
                        return
                self.added.append(name)

    def _send(self, client: Client, key: str, *request: object, **more: str) -> Answer:
        if not self.keeps_alive:
            more["Connection"] = "close"
        answer = client.send(*request, **more)
        self.answers.append(answer)
        self.answers_to.setdefault(key, []).append(answer)
        return answer


@contextmanager
def load(url: str, keys: Sequence[str], **options: Any) -> Iterator[Load]:
    """Run a load for the duration of the block."""
    load = Load(url, keys, **options)
    clients = [partial(load._go_on, *client) for client in enumerate(keys)]
    with going_on(*clients):
        yield load


def left_today(answers: Sequence[Answer]) -> list[int]:
    """Return the requests left after each response of the last UTC day, in order.

    For projects whose limits of a minute and of a day are the same.
    """
    answers = [answer for answer in answers if answer.status]
    today = answers[-1].headers["X-RateLimit-Reset"] if answers else ""
    return [a.day_left for a in answers if a.headers["X-RateLimit-Reset"] == today]


def countdown(left: list[int]) -> list[int]:
    """Return what was left after each of so many requests, if each was counted once."""
    return [left[0] - number for number in range(len(left))]
