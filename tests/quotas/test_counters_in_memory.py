"""Tests for the counters of a worker while the counter store is away."""

import threading
from collections.abc import Callable

import pytest

from petstore.models.plans import Quota
from petstore.quotas.decisions import Hit
from petstore.quotas.stores.memory import MemoryCounters
from petstore.quotas.subjects import Subject


def hit(number: int) -> Hit:
    """Return a request of one of many subjects."""
    return Hit(Subject(f"address:{number}", 1), Quota(4, 100))


@pytest.fixture
def counters() -> MemoryCounters:
    return MemoryCounters(workers=2)


def test_counting_starts_no_thread(counters: MemoryCounters):
    before = threading.enumerate()
    counters.count(hit(1))
    assert threading.enumerate() == before


def test_subjects_have_counters_of_their_own(counters: MemoryCounters):
    granted = [counters.count(hit(number % 2)).is_granted for number in range(6)]
    assert granted == [True] * 4 + [False] * 2


def test_many_subjects_take_only_so_much_memory(
    counters: MemoryCounters, set_limits: Callable[..., None]
):
    set_limits(outage_windows=10)  # of five subjects, a minute and a day each
    for number in range(5):
        counters.count(hit(number))
    assert counters.peek(hit(0)).day_served == 51
    counters.count(hit(5))
    assert counters.peek(hit(0)).day_served == 50
