"""Deeds that race for an animal, judged by the two orders in which they may happen."""

import threading
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

from tests.harness.clients import ORDERS, PETS, TIMEOUT_SECONDS, Answer, Client
from tests.harness.crowds import at_once

CATEGORIES = "/v1/categories"
KNOWN, NEW = 7, 10**9  # a category, and one of each animal's own that does not exist
# Of each side its outcome, then the animal, its orders and its own category.
Result = tuple[Any, Any, Any]


class Subject(NamedTuple):
    """An animal for which two deeds race, and its order if it has one."""

    pet: int
    order: int | None

    @property
    def category(self) -> int:
        """A category that does not exist before a deed names it."""
        return NEW + self.pet


class Deed(NamedTuple):
    """A request about an animal."""

    name: str
    method: str
    path: str
    body: dict[str, Any] | None = None

    def send(self, client: Client, subject: Subject) -> Any:
        """Carry it out, and return its outcome; of a list, the animal in it."""
        about = subject._asdict() | {
            "before": subject.pet - 1,
            "category": subject.category,
        }
        body = self.body and {
            name: about[text[1:]] if str(text).startswith("$") else text
            for name, text in self.body.items()
        }
        answer = client.send(self.method, self.path.format(**about), body)
        return _seen(answer, subject) if self.method == "GET" else answer.outcome


class Pair(NamedTuple):
    """Two deeds, and whether the animal is ordered before."""

    is_ordered: bool
    deeds: tuple[Deed, Deed]

    @property
    def name(self) -> str:
        """The pair in words."""
        names = " and ".join(deed.name for deed in self.deeds)
        return (
            f"{names}, of an animal that is {'' if self.is_ordered else 'not '}ordered"
        )

    def expected(self, client: Client) -> set[Result]:
        """Return what one deed after the other leads to, in both orders."""
        found = set()
        for sides in ((0, 1), (1, 0)):
            [subject] = _prepare(client, 1, is_ordered=self.is_ordered)
            said = {side: self.deeds[side].send(client, subject) for side in sides}
            [state] = _states(client, [subject])
            found.add((said[0], said[1], state))
        return found

    def race(self, clients: list[Client], count: int) -> list[Result]:
        """Have both clients carry out their deeds at once, for so many animals."""
        subjects = _prepare(clients[0], count, is_ordered=self.is_ordered)
        line = threading.Barrier(2, timeout=TIMEOUT_SECONDS)

        def act(side: int) -> list[Any]:
            clients[side].renew()
            said = []
            for subject in subjects:
                line.wait()
                said.append(self.deeds[side].send(clients[side], subject))
            return said

        said = at_once(act, (0, 1))
        return list(zip(*said, _states(clients[0], subjects), strict=True))


def _prepare(client: Client, count: int, *, is_ordered: bool) -> list[Subject]:
    subjects = []
    for pet in client.add_pets(count):
        body = {"petId": pet, "reference": "first"}
        order = client.post(body, ORDERS).json["id"] if is_ordered else None
        subjects.append(Subject(pet, order))
    return subjects


def _seen(answer: Answer, subject: Subject) -> Any:
    assert answer.status == 200
    # It is the first one, unless it has left the list.
    if answer.json and answer.json[0]["id"] == subject.pet:
        return _plain(answer.json[0], subject)
    return None


def _states(client: Client, subjects: list[Subject]) -> list[Any]:
    """Return what the database holds of each animal."""
    pets = {row["id"]: row for row in client.all_of(PETS, subjects[0].pet - 1)}
    categories = {
        row["id"]: row["name"]
        for row in client.all_of(CATEGORIES, subjects[0].category - 1)
    }
    orders: dict[int, list[tuple[str, str]]] = {}
    for row in client.all_of(ORDERS):
        about = row["status"], row["reference"]
        orders.setdefault(row["petId"], []).append(about)
    return [
        (
            _plain(pets[each.pet], each) if each.pet in pets else None,
            tuple(orders.get(each.pet, ())),
            categories.get(each.category, "none"),
        )
        for each in subjects
    ]


def _plain(row: dict[str, Any], subject: Subject) -> tuple[Any, ...]:
    """Return an animal without the numbers that differ from animal to animal."""
    is_new = row["categoryId"] == subject.category
    return row["name"], "new" if is_new else row["categoryId"], row["status"]


PET, ORDER = f"{PETS}/{{pet}}", f"{ORDERS}/{{order}}"
RENAME = Deed("correct the name", "PATCH", PET, {"name": "Max"})
MOVE = Deed("correct the category", "PATCH", PET, {"categoryId": "$category"})
WITHDRAW = Deed("withdraw", "DELETE", PET)
PLACE = Deed("order", "POST", ORDERS, {"petId": "$pet", "reference": "second"})
LIST = Deed("list its category", "GET", f"{PETS}?categoryId={KNOWN}&after={{before}}")
NAME = Deed("name its category", "PUT", f"{CATEGORIES}/{{category}}", {"name": "Cats"})
COMPLETE = Deed("complete", "PATCH", ORDER, {"status": "completed"})
CANCEL = Deed("cancel", "PATCH", ORDER, {"status": "cancelled"})

PAIRS = [
    Pair(is_ordered, deeds)
    for is_ordered, among in (
        (False, (RENAME, MOVE, WITHDRAW, PLACE, LIST, NAME)),
        (True, (RENAME, WITHDRAW, PLACE, LIST, COMPLETE, CANCEL)),
    )
    for deeds in combinations_with_replacement(among, 2)
]
