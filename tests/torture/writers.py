"""Clients that write during faults and record what was acknowledged."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.clients import ORDERS, Answer, Client
from tests.torture.campaign import Outcome

PETS = "/v1/pets"
WRITERS = 4
CATEGORIES = 5
ORDERED = 0.3  # share of the animals
RETRIED = 0.5  # share of the requests, each with an idempotency key
PAUSE_SECONDS = 0.05
PATIENCE = 400


@dataclass
class Wish:
    """An animal or an order that a client wants to exist exactly once."""

    subject: str | int  # the animal's name, or the id of the ordered animal
    body: dict | None = None  # as acknowledged; None if there was no answer


@dataclass
class Ledger:
    """What all writers requested, and the answers."""

    pets: list[Wish] = field(default_factory=list)
    orders: list[Wish] = field(default_factory=list)
    # Of each finished request; None if it was not answered.
    statuses: list[int | None] = field(default_factory=list)
    surprises: list[str] = field(default_factory=list)

    @property
    def answered(self) -> int:
        """The number of requests that were answered."""
        return sum(status is not None for status in self.statuses)

    def judge(self, client: Client, outcome: Outcome) -> None:
        """Compare the wishes with the final rows of the service."""
        pets, orders = client.all_of(PETS), client.all_of(ORDERS)
        _compare(self.pets, pets, "name", outcome)
        _compare(self.orders, orders, "petId", outcome)
        ordered = {order["petId"] for order in orders}
        for pet in pets:
            if (pet["status"] == "pending") != (pet["id"] in ordered):
                outcome.faults.append(f"{pet} does not fit its orders")
        for what, times in Counter(self.surprises).items():
            outcome.faults.append(f"{times} times {what}")
        wishes = [*self.pets, *self.orders]
        outcome.figures["acknowledged"] = sum(wish.body is not None for wish in wishes)
        outcome.figures["unanswered"] = len(self.statuses) - self.answered


def _compare(
    wishes: list[Wish], rows: list[dict], identity: str, outcome: Outcome
) -> None:
    """Check that each acknowledged wish has one row, and any other at most one."""
    found: dict[str | int, list[dict]] = {}
    for row in rows:
        found.setdefault(row[identity], []).append(row)
    for wish in wishes:
        there = found.pop(wish.subject, [])
        outcome.duplicated += max(0, len(there) - 1)
        if wish.body is not None and not any(_is_same(wish.body, row) for row in there):
            outcome.lost += 1
    outcome.faults += [f"nobody asked for {row}" for row in found.values()]


def _is_same(acknowledged: dict, row: dict) -> bool:
    # An order changes the status of its animal later.
    return row == acknowledged | {"status": row["status"]}


class Writer:
    """A client that posts animals and orders, with and without an Idempotency-Key."""

    def __init__(self, client: Client, ledger: Ledger, name: str) -> None:
        self._client = client
        self._ledger = ledger
        self._dice = random.Random(name)
        self._name = name
        self._posts = 0

    def write(self, has_ended: threading.Event) -> None:
        """Send one request after another until the event is set."""
        while not has_ended.is_set():
            self._posts += 1
            name = f"{self._name}-{self._posts}"
            sent = {"name": name, "categoryId": self._dice.randrange(CATEGORIES)}
            pet = self._wish(self._ledger.pets, PETS, name, sent)
            if pet and self._dice.random() < ORDERED:
                sent = {"petId": pet["id"]}
                self._wish(self._ledger.orders, ORDERS, pet["id"], sent)
        self._client.close()

    def _wish(
        self, wishes: list[Wish], path: str, subject: str | int, sent: dict
    ) -> dict | None:
        wish = Wish(subject)
        wishes.append(wish)
        if self._dice.random() < RETRIED:
            answer = self._insist(path, sent, f"{self._name}:{path}:{subject}")
        else:
            answer = self._ask(path, sent)
        if answer.status == 201:
            wish.body = answer.json
        elif answer.status is not None:
            self._ledger.surprises.append(f"{path}: {answer.outcome}")
        return wish.body

    def _insist(self, path: str, sent: dict, key: str) -> Answer:
        """Repeat a request with an idempotency key until it is answered."""
        for _ in range(PATIENCE):
            answer = self._ask(path, sent, **{"Idempotency-Key": key})
            if answer.outcome not in (None, "idempotency_key_in_use"):
                return answer
        self._ledger.surprises.append(f"{path}: no answer to many a retry")
        return answer

    def _ask(self, path: str, sent: dict, **headers: str) -> Answer:
        answer = self._client.ask("POST", path, sent, **headers)
        self._ledger.statuses.append(answer.status)
        if answer.status is None:
            time.sleep(PAUSE_SECONDS)  # no busy loop while the service is down
        return answer


@contextmanager
def writing(new_client: Callable[[], Client], name: str) -> Iterator[Ledger]:
    """Run some writers for the duration of the block; `name` is a prefix of theirs."""
    ledger, has_ended = Ledger(), threading.Event()
    threads = [
        threading.Thread(
            target=Writer(new_client(), ledger, f"{name}.{number}").write,
            args=(has_ended,),
        )
        for number in range(WRITERS)
    ]
    for thread in threads:
        thread.start()
    try:
        yield ledger
    finally:
        has_ended.set()
        for thread in threads:
            thread.join()
