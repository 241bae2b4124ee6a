"""Two clients that act on one animal at once: what they are told is what is kept."""

import threading
from collections.abc import Callable
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import pytest

from tests.harness.clients import ORDERS, PETS, Answer, Client
from tests.harness.crowds import at_once
from tests.together.races.conftest import of_postgresql

TIMES = 6
WITHDRAWN, ROUNDS = 40, 4

Clients = Callable[[int], list[Client]]


class Subject(NamedTuple):
    """An animal for which two deeds race, and its order if it has one."""

    pet: int
    order: int | None


def close(status: str) -> Callable[[Client, Subject], Answer]:
    return lambda c, at: c.send("PATCH", f"{ORDERS}/{at.order}", {"status": status})


DEEDS: dict[str, Callable[[Client, Subject], Answer]] = {
    "correct": lambda c, at: c.send("PATCH", f"{PETS}/{at.pet}", {"name": "Max"}),
    "sell": lambda c, at: c.send("PATCH", f"{PETS}/{at.pet}", {"status": "sold"}),
    "withdraw": lambda c, at: c.send("DELETE", f"{PETS}/{at.pet}"),
    "order": lambda c, at: c.post({"petId": at.pet, "reference": "second"}, ORDERS),
    "complete": close("completed"),
    "cancel": close("cancelled"),
}
PAIRS = [
    *((False, pair) for pair in combinations_with_replacement([*DEEDS][:4], 2)),
    *((True, pair) for pair in combinations_with_replacement(DEEDS, 2)),
]


def prepare(client: Client, *, is_ordered: bool) -> Subject:
    [pet] = client.add_pets(1)
    order = {"petId": pet, "reference": "first"}
    return Subject(pet, client.post(order, ORDERS).json["id"] if is_ordered else None)


def state_of(client: Client, subject: Subject) -> Any:
    """Return what the database holds of an animal."""
    pet = client.get(f"{PETS}/{subject.pet}").json
    orders = client.all_of(ORDERS)
    about = [(o["status"], o["reference"]) for o in orders if o["petId"] == subject.pet]
    return pet.get("name"), pet["status"], tuple(about)


@of_postgresql
@pytest.mark.parametrize(("is_ordered", "pair"), PAIRS)
def test_two_deeds_at_once_end_as_one_after_the_other(
    clients: Clients, is_ordered: bool, pair: tuple[str, str]
):
    both, deeds, expected = clients(2), [DEEDS[name] for name in pair], set()
    for sides in ((0, 1), (1, 0)):
        subject = prepare(both[0], is_ordered=is_ordered)
        told = {side: deeds[side](both[0], subject).outcome for side in sides}
        expected.add((told[0], told[1], state_of(both[0], subject)))
    for _ in range(TIMES):
        subject = prepare(both[0], is_ordered=is_ordered)
        told = at_once(lambda n, at=subject: deeds[n](both[n], at).outcome, (0, 1))
        assert (*told, state_of(both[0], subject)) in expected


@of_postgresql
def test_a_reader_misses_no_animal_while_others_are_withdrawn(clients: Clients):
    first, reader, *others = clients(4)
    kept, leaving = [], []
    for _ in range(WITHDRAWN):
        kept += first.add_pets(1)
        leaving += first.add_pets(1)
    has_begun = threading.Event()

    def withdraw(client: Client) -> None:
        has_begun.wait()
        for pet in leaving[others.index(client) :: len(others)]:
            assert client.send("DELETE", f"{PETS}/{pet}").status == 204

    def read(client: Client) -> list[list[int]]:
        has_begun.set()
        return [ids_of_pages(client) for _ in range(ROUNDS)]

    *_, rounds = at_once(
        lambda client: read(client) if client is reader else withdraw(client),
        [*others, reader],
    )
    for ids in (*rounds, ids_of_pages(reader)):
        assert ids == sorted(set(ids))
        assert set(kept) <= set(ids)
    assert ids == kept


def ids_of_pages(client: Client) -> list[int]:
    """Return the ids on all pages, read by the id of the last animal seen."""
    ids = [0]
    while page := client.get(f"{PETS}?categoryId=7&limit=7&after={ids[-1]}").json:
        ids += [pet["id"] for pet in page]
    return ids[1:]
