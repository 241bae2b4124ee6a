"""Tests for concurrent requests with one idempotency key."""

from collections.abc import Callable
from functools import partial

from tests.harness.clients import PETS, Answer, Client
from tests.harness.crowds import at_once
from tests.harness.waiting import wait_until
from tests.races.conftest import of_postgresql

COPIES = 16
ROUNDS = 6


def insist(client: Client, name: str) -> Answer:
    """Retry while another copy is being answered, as a real client does."""
    pet, answers = {"name": name, "categoryId": 7}, []

    def is_answered() -> bool:
        answers.append(client.post(pet, Idempotency_Key=name))
        return answers[-1].outcome != "idempotency_key_in_use"

    wait_until(is_answered, "the key is in use")
    return answers[-1]


@of_postgresql
def test_concurrent_copies_create_one_animal(
    clients: Callable[[int], list[Client]],
):
    copies = clients(COPIES)
    names = [f"copy-{number}" for number in range(ROUNDS)]
    for name in names:
        answers = at_once(partial(insist, name=name), copies)
        assert {answer.status for answer in answers} == {201}
        assert len({answer.content for answer in answers}) == 1
        replays = [answer.headers["Idempotent-Replayed"] for answer in answers]
        assert replays.count(None) == 1
    assert [pet["name"] for pet in copies[0].all_of(PETS)] == names
