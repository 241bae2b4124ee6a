"""Clients that write during faults and record what was acknowledged."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from tests.harness.clients import ORDERS, PETS, Answer, Client
from tests.harness.crowds import going_on

WRITERS = 4
CATEGORIES = 5
IN_REACH = 6  # the latest animals and orders, for which all writers compete
RETRIED = 0.5  # share of the requests, each with an idempotency key
PAUSE_SECONDS = 0.05
MOST_RETRIES = 400
PET_STATUS = {"placed": "pending", "completed": "sold", "cancelled": "available"}


@dataclass
class Write:
    """A row that a client asks for, and the last answer to it."""

    subject: str | int  # an animal's name, or the id of what is ordered
    answer: Answer = field(default_factory=Answer)
    is_at_once: bool = False  # one statement, which is committed with its answer

    @property
    def may_be_kept(self) -> bool:
        """Whether it may have been carried out although it was not acknowledged."""
        return self.answer.status in ((None, 503) if self.is_at_once else (None,))


@dataclass
class Ledger:
    """What all writers asked for, and the answers."""

    pets: list[Write] = field(default_factory=list)
    orders: list[Write] = field(default_factory=list)
    # Of each finished request; None if it was not answered.
    statuses: list[int | None] = field(default_factory=list)
    surprises: list[str] = field(default_factory=list)

    @property
    def answered(self) -> int:
        """The number of requests that were answered."""
        return sum(status is not None for status in self.statuses)

    def faults(self, client: Client) -> list[str]:
        """Return what the final rows of the service hold otherwise than was told."""
        pets, orders = client.all_of(PETS), client.all_of(ORDERS)
        statuses = {each["petId"]: each["status"] for each in orders}  # the last one's
        faults = [*self.surprises, *_misfits(pets, "name", self.pets)]
        faults += _misfits(orders, "petId", self.orders)
        for pet in pets:
            if pet["status"] != PET_STATUS[statuses.get(pet["id"], "cancelled")]:
                faults.append(f"{pet} does not agree with its orders")
        return faults


def _misfits(rows: list[dict], subject: str, writes: list[Write]) -> Iterator[str]:
    """Compare the final rows with those that were asked for, by their subjects."""
    created = {_unchanging(w.answer.json) for w in writes if w.answer.is_served}
    yield from (f"lost: {row}" for row in created - set(map(_unchanging, rows)))
    others = Counter(row[subject] for row in rows if _unchanging(row) not in created)
    unknown = Counter(w.subject for w in writes if w.may_be_kept)
    yield from (f"not asked for, or twice: {each}" for each in others - unknown)


def _unchanging(row: dict) -> tuple:
    """Return the members of an animal or an order that no later write changes."""
    return tuple(row.get(name) for name in ("id", "name", "categoryId", "petId"))


class Writer:
    """A client that writes at random, with and without an Idempotency-Key."""

    def __init__(self, client: Client, ledger: Ledger, name: str) -> None:
        self._client = client
        self._ledger = ledger
        self._dice = random.Random(name)
        self._name = name

    def write(self, has_ended: threading.Event) -> None:
        """Send one request after another until the event is set."""
        steps = [self._add, self._order, self._close, self._list]
        while not has_ended.is_set():
            [step] = self._dice.choices(steps, weights=[4, 3, 3, 1])
            step()

    def _add(self) -> None:
        name = f"{self._name}-{len(self._ledger.statuses)}"
        sent = {"name": name, "categoryId": self._dice.randrange(CATEGORIES)}
        self._send(self._ledger.pets, Write(name), PETS, sent, {201})

    def _order(self) -> None:
        if pet := self._latest(self._ledger.pets):
            sent, allowed = {"petId": pet}, {201, "pet_not_available"}
            self._send(self._ledger.orders, Write(pet), ORDERS, sent, allowed)

    def _close(self) -> None:
        if order := self._latest(self._ledger.orders):
            sent = {"status": self._dice.choice(["completed", "cancelled"])}
            self._request("PATCH", f"{ORDERS}/{order}", sent)

    def _list(self) -> None:
        answer = self._request("GET", f"{ORDERS}?limit=100")
        rows = answer.json if answer.status == 200 else []
        held = [row["petId"] for row in rows if row["status"] != "cancelled"]
        if len(held) > len(set(held)):
            self._ledger.surprises.append("a list with two orders for an animal")

    def _latest(self, writes: list[Write]) -> int | None:
        """Return the id of one of the rows that were created last."""
        latest = [w.answer.json["id"] for w in writes[-IN_REACH:] if w.answer.is_served]
        return self._dice.choice(latest) if latest else None

    def _send(
        self, writes: list[Write], write: Write, path: str, sent: dict, allowed: set
    ) -> None:
        writes.append(write)
        if self._dice.random() < RETRIED:
            write.answer = self._insist(path, sent)
        else:
            write.is_at_once = path == PETS
            write.answer = self._request("POST", path, sent)
        if write.answer.outcome not in (None, *allowed):
            self._ledger.surprises.append(f"{path}: {write.answer.outcome}")

    def _insist(self, path: str, sent: dict) -> Answer:
        """Repeat a request with an idempotency key until it is answered."""
        key = f"{self._dice.getrandbits(128):x}"
        for _ in range(MOST_RETRIES):
            answer = self._request("POST", path, sent, Idempotency_Key=key)
            if answer.outcome not in (None, "idempotency_key_in_use"):
                return answer
        self._ledger.surprises.append(f"{path}: no answer to many a retry")
        return answer

    def _request(self, method: str, path: str, *sent: dict, **headers: str) -> Answer:
        answer = self._client.send(method, path, *sent, **headers)
        self._ledger.statuses.append(answer.status)
        if answer.status is None:
            time.sleep(PAUSE_SECONDS)  # no busy loop while the service is down
        return answer


@contextmanager
def writing(new_client: Callable[[], Client], name: str) -> Iterator[Ledger]:
    """Run some writers for the duration of the block; `name` is a prefix of theirs."""
    ledger = Ledger()
    with ExitStack() as stack:
        clients = [stack.enter_context(new_client()) for _ in range(WRITERS)]
        writers = [
            Writer(client, ledger, f"{name}.{number}").write
            for number, client in enumerate(clients)
        ]
        with going_on(*writers):
            yield ledger
