"""One thread leads; who has to wait gives way, and nobody else waits with it."""

import threading

import pytest

from petstore.turns import Turns, give_way


@pytest.fixture
def turns() -> Turns:
    return Turns()


def leads_elsewhere(turns: Turns) -> bool:
    """Whether another thread can lead at this moment."""
    found = []

    def try_to_lead() -> None:
        found.append(turns.lead(0.01))
        give_way()

    other = threading.Thread(target=try_to_lead)
    other.start()
    other.join()
    return found[0]


def test_one_thread_leads(turns: Turns):
    assert turns.lead(0)
    assert turns.lead(0)
    assert not leads_elsewhere(turns)
    give_way()


def test_another_one_leads_when_it_gives_way(turns: Turns):
    assert turns.lead(0)
    give_way()
    assert leads_elsewhere(turns)


def test_who_does_not_lead_has_nothing_to_give(turns: Turns):
    give_way()
    assert leads_elsewhere(turns)
