"""Two clients that act on one animal at once: what they are told is what is kept."""

import threading
from collections.abc import Callable

import pytest

from tests.harness.clients import PETS, Client
from tests.harness.crowds import at_once, race
from tests.races.conftest import of_both_engines
from tests.races.deeds import PAIRS, Pair

TIMES = 10
CLIENTS, ANIMALS = 16, 5
WITHDRAWN, ROUNDS = 60, 6

Clients = Callable[[int], list[Client]]


@of_both_engines
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_two_deeds_at_once_end_as_one_after_the_other(clients: Clients, pair: Pair):
    both = clients(2)
    expected = pair.expected(both[0])
    assert set(pair.race(both, TIMES)) <= expected


@of_both_engines
def test_only_one_of_many_concurrent_withdrawals_succeeds(clients: Clients):
    first, *others = clients(CLIENTS)
    for pet in first.add_pets(ANIMALS):
        withdrawal = ("DELETE", f"{PETS}/{pet}")
        outcomes = race([first, *others], [withdrawal] * CLIENTS)
        assert outcomes == [204] + ["not_found"] * (CLIENTS - 1)


@of_both_engines
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
