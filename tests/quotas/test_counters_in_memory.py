"""Tests for the counters of a worker while the counter storage is away."""

from collections.abc import Callable

import pytest

from petstore.models.plans import Quota
from petstore.quotas.fallback import ShareStorage
from petstore.quotas.strategy import Hit

QUOTA = Quota.of(4, 100)


def hit(number: int) -> list[Hit]:
    """Return a request of one of many subjects."""
    return [Hit(f"address:{number}", QUOTA)]


@pytest.fixture
def storage() -> ShareStorage:
    return ShareStorage(workers=2)


def test_many_subjects_take_only_so_much_memory(
    storage: ShareStorage, set_limits: Callable[..., None]
):
    set_limits(outage_windows=10)  # of five subjects, a minute and a day each
    for number in range(5):
        storage.count(hit(number))
    assert storage.count(hit(0), cost=0).used == [3, 51]
    storage.count(hit(5))
    assert storage.count(hit(0), cost=0).used == [2, 50]
