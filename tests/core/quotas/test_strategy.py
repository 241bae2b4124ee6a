"""The strategy of limits, used as the documentation of limits says."""

from collections.abc import Iterator

import pytest
from flask import Flask
from limits import RateLimitItemPerHour, RateLimitItemPerMinute
from limits.storage import Storage
from limits.strategies import FixedWindowRateLimiter

from petstore.quotas.database import DatabaseStorage
from petstore.quotas.fallback import ShareStorage
from petstore.quotas.redis import redis_storage
from petstore.quotas.strategy import AlignedWindowRateLimiter, Window
from petstore.storage import db
from petstore.web.limiter import limiter_of
from tests.harness.clocks import Clock

MINUTE = RateLimitItemPerMinute(3)
HOUR = RateLimitItemPerHour(4)
CALLER = ("project:7", "key:9")

of_each_storage = pytest.mark.parametrize(
    "store", ["sqlite", "postgresql", "redis", "memory"], indirect=True
)


@pytest.fixture
def storage(app: Flask, store: str, request: pytest.FixtureRequest) -> Iterator:
    """A storage of each kind, on an empty store with a clock that stands still."""
    if store == "redis":
        return redis_storage(request.getfixturevalue("redis_url"))
    return ShareStorage(workers=1) if store == "memory" else DatabaseStorage()


@pytest.fixture
def limiter(storage: Storage) -> AlignedWindowRateLimiter:
    return AlignedWindowRateLimiter(storage)


@of_each_storage
def test_hits_are_granted_up_to_the_limit_of_the_window(
    limiter: AlignedWindowRateLimiter, clock: Clock
):
    hits = [limiter.hit(MINUTE, *CALLER) for _ in range(4)]
    assert hits == [True, True, True, False]
    assert not limiter.test(MINUTE, *CALLER)
    ends_at = (clock.now_ms // 60_000 + 1) * 60
    assert limiter.get_window_stats(MINUTE, *CALLER) == (ends_at, 0)
    assert limiter.test(MINUTE, "project:8")
    clock.move(seconds=50)
    assert limiter.hit(MINUTE, *CALLER)
    # A hit that costs more than is left takes nothing.
    assert limiter.hit(HOUR, *CALLER, cost=3)
    assert not limiter.hit(HOUR, *CALLER, cost=2)
    assert limiter.hit(HOUR, *CALLER)


@of_each_storage
def test_windows_of_several_subjects_are_decided_together(
    limiter: AlignedWindowRateLimiter,
):
    of_key = [Window.of(item, "{project:7}", "key:9") for item in (HOUR, MINUTE)]
    both = [*of_key, Window.of(MINUTE, "{project:7}")]
    for _ in range(3):
        limiter.hit(MINUTE, "{project:7}")
    assert not limiter.hit_all(both).is_granted
    looked = limiter.hit_all(both, cost=0)
    assert [window.served for window in looked.windows] == [0, 0, 3]


def test_what_is_cleared_begins_anew(limiter: AlignedWindowRateLimiter):
    assert limiter.hit(MINUTE, *CALLER, cost=3)
    limiter.clear(MINUTE, *CALLER)
    assert limiter.hit(MINUTE, *CALLER)


@of_each_storage
def test_strategies_of_limits_take_each_storage(storage: Storage):
    limiter = FixedWindowRateLimiter(storage)
    assert [limiter.hit(HOUR, "a") for _ in range(5)] == [True] * 4 + [False]
    assert not limiter.test(HOUR, "a")
    assert limiter.get_window_stats(HOUR, "a").remaining == 0
    storage.reset()
    assert storage.check()
    assert limiter.test(HOUR, "a")


def test_no_limit_is_counted_in_a_transaction(app: Flask):
    hit = limiter_of(app).strategy.hit
    with pytest.raises(RuntimeError, match="in a transaction"), db.atomic():
        hit(MINUTE, *CALLER)
    assert hit(MINUTE, *CALLER)
