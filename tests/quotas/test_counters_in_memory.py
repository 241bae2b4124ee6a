"""Tests for the counters of a worker while the counter store is away."""

import itertools
import threading
from collections.abc import Callable

import pytest

from petstore.clock import MS_PER_MINUTE
from petstore.models.plans import Quota
from petstore.quotas.decisions import Hit
from petstore.quotas.stores.memory import MemoryCounters
from petstore.quotas.subjects import Subject
from tests.harness.clocks import START_MS


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


@pytest.fixture
def minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A minute passes whenever somebody looks at the clock."""
    look = itertools.count(START_MS, MS_PER_MINUTE).__next__
    monkeypatch.setattr("petstore.clock.now_ms", look)


@pytest.mark.usefixtures("minutes")
def test_day_outlasts_the_minutes_of_a_long_outage(
    counters: MemoryCounters, set_limits: Callable[..., None]
):
    set_limits(outage_windows=10)
    assert all(counters.count(hit(0)).is_granted for _ in range(30))
    assert counters.peek(hit(0)).day_served == 50 + 30


@pytest.mark.usefixtures("minutes")
def test_reply_counts_the_request_in_the_minute_that_it_names(counters: MemoryCounters):
    counts = counters.count(hit(0))
    assert (counts.minute_served, counts.day_served) == (2 + 1, 50 + 1)
