"""Clients that send requests continuously and record every response."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.harness.clients import Answer, Client

PATH = "/v1/pets?limit=1"
PAUSE_SECONDS = 0.005
TIMEOUT_SECONDS = 15


@dataclass
class Load:
    """One client per key, sending requests until stopped."""

    url: str
    keys: Sequence[str]
    keeps_alive: bool = True
    adds: bool = False  # create a pet in every second turn, retrying until it succeeds
    pause_seconds: float = PAUSE_SECONDS
    answers: list[Answer] = field(default_factory=list, repr=False)
    answers_to: dict[str, list[Answer]] = field(default_factory=dict, repr=False)
    added: list[str] = field(default_factory=list, repr=False)
    has_ended: threading.Event = field(default_factory=threading.Event, repr=False)

    def run(self, seconds: float) -> None:
        """Wait while the load runs."""
        self.has_ended.wait(seconds)

    def left(self, key: str, since: float = 0) -> list[int]:
        """Return the requests left today by each response to a key, in order."""
        answers = (a for a in self.answers_to[key] if a.sent_at >= since)
        return [answer.day_left for answer in answers if answer.status]

    def statuses(self) -> set[int | None]:
        """Return all statuses seen; None stands for no response."""
        return {answer.status for answer in self.answers}

    def since(self, sent_at: float) -> list[Answer]:
        """Return the responses to requests sent at that time or later."""
        return [answer for answer in self.answers if answer.sent_at >= sent_at]

    def slowest(self) -> float:
        """Return the longest response time in seconds."""
        return max(answer.seconds for answer in self.answers)

    def _go_on(self, number: int, key: str) -> None:
        turn = 0
        with Client(self.url, key, timeout_seconds=TIMEOUT_SECONDS) as client:
            while not self.has_ended.wait(self.pause_seconds):
                turn += 1
                if self.adds and turn % 2:
                    self._add(client, key, f"{number}-{turn}")
                else:
                    self._request(client, key, "GET", PATH)

    def _add(self, client: Client, key: str, name: str) -> None:
        pet, once = {"name": name, "categoryId": 1}, {"Idempotency-Key": name}
        while self._request(client, key, "POST", "/v1/pets", pet, **once).status != 201:
            if self.has_ended.wait(self.pause_seconds):
                return
        self.added.append(name)

    def _request(
        self, client: Client, key: str, method: str, path: str, *body: dict, **more: str
    ) -> Answer:
        if not self.keeps_alive:
            more["Connection"] = "close"
        answer = client.send(method, path, *body, **more)
        self.answers.append(answer)
        self.answers_to.setdefault(key, []).append(answer)
        return answer


@contextmanager
def load(url: str, keys: Sequence[str], **options: float) -> Iterator[Load]:
    """Run a load for the duration of the block."""
    load = Load(url, keys, **options)
    threads = [
        threading.Thread(target=load._go_on, args=(number, key))
        for number, key in enumerate(keys)
    ]
    for thread in threads:
        thread.start()
    try:
        yield load
    finally:
        load.has_ended.set()
        for thread in threads:
            thread.join()
