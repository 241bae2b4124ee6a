"""Clients that place, close and list orders at random and record the answers."""

import random
import uuid
from dataclasses import dataclass, field, replace

from tests.clients import ORDERS, PAGE, Answer, Client


@dataclass(frozen=True)
class Deed:
    """A request of a client, and the answer."""

    verb: str  # the requested status: "placed", "completed", "cancelled"; or "list"
    answer: Answer
    pet: int | None = None
    order: int | None = None
    status: str | None = None
    after: int = 0


@dataclass
class Walk:
    """The requests of all clients, in the order of their answers."""

    pets: list[int]
    deeds: list[Deed] = field(default_factory=list)
    orders: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        # Older animals and orders can hardly change any more.
        self.in_reach = slice(-len(self.pets), None)


class Walker:
    """A client that sends random requests, one after another."""

    def __init__(self, client: Client, walk: Walk, seed: int) -> None:
        self._client = client
        self._walk = walk
        self._mind = random.Random(seed)

    def go(self, steps: int) -> None:
        """Send the given number of requests."""
        choices = [self._place, self._complete, self._cancel, self._list]
        for step in self._mind.choices(choices, weights=[6, 2, 4, 3], k=steps):
            step()

    def _place(self) -> None:
        pet = self._mind.choice(self._walk.pets[self._walk.in_reach])
        answer = self._once(pet) if self._mind.random() < 0.5 else self._post(pet)
        if answer.status == 201:
            self._walk.orders.append(answer.json["id"])
        self._walk.deeds.append(Deed("placed", answer, pet=pet))

    def _once(self, pet: int) -> Answer:
        """Place an order with an idempotency key, retrying until it is answered."""
        key = str(uuid.UUID(int=self._mind.getrandbits(128)))
        first = answer = self._post(pet, **{"Idempotency-Key": key})
        while answer.outcome in (None, "idempotency_key_in_use"):
            answer = self._post(pet, **{"Idempotency-Key": key})
        return replace(answer, sent_at=first.sent_at)

    def _post(self, pet: int, **headers: str) -> Answer:
        return self._client.ask("POST", ORDERS, {"petId": pet}, **headers)

    def _complete(self) -> None:
        """Complete an order, and add an animal to replace the one that was sold."""
        if self._close("completed") == 200:
            self._walk.pets += self._client.add_pets(1)

    def _cancel(self) -> None:
        self._close("cancelled")

    def _close(self, verb: str) -> int | str | None:
        if not self._walk.orders:
            return None
        order = self._mind.choice(self._walk.orders[self._walk.in_reach])
        answer = self._client.ask("PATCH", f"{ORDERS}/{order}", {"status": verb})
        self._walk.deeds.append(Deed(verb, answer, order=order))
        return answer.outcome

    def _list(self) -> None:
        status = self._mind.choice([None, "placed", "completed", "cancelled"])
        after = self._mind.choice([0, *self._walk.orders])
        query = f"limit={PAGE}&after={after}" + (f"&status={status}" if status else "")
        answer = self._client.ask("GET", f"{ORDERS}?{query}")
        self._walk.deeds.append(Deed("list", answer, status=status, after=after))
