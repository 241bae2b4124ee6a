"""A project has at most 100 working keys, and few that have ended."""

from collections.abc import Callable
from contextlib import suppress
from itertools import product

import pytest

from petstore.extensions.dashboard.keys import list_keys
from petstore.extensions.dashboard.models import Session
from petstore.models import keys
from petstore.models.callers import Caller
from petstore.models.keys import MAX_ENDED_KEYS, Key, KeyNotActive, TooManyKeys
from petstore.models.projects import Project
from tests.harness.clocks import START_MS, Clock
from tests.harness.crowds import at_once
from tests.harness.databases import each_engine
from tests.harness.limits import fill_up_ended_keys, fill_up_keys

database_url = each_engine


@pytest.fixture
def own_keys(project: Project) -> list[Key]:
    """Three of the keys of a project that has as many as it may have."""
    own_keys = [Key.find_by_prefix(Key.issue(project)[:16]) for _ in range(3)]
    fill_up_keys(project, leave=0)
    return own_keys


def working(project: Project, clock: Clock) -> int:
    now = clock.now_ms
    return Key.select().where(Key.project == project, Key.works_at(now)).count()


def test_key_beyond_the_limit_is_refused_until_one_has_ended(
    own_keys: list[Key], project: Project, rival: Project, clock: Clock
):
    assert Key.issue(rival)
    own_keys[0].rotate(0)  # whose successor takes its place
    with pytest.raises(TooManyKeys):
        own_keys[1].rotate(60)  # which needs room for both
    assert own_keys[1].state == Key.find_by_prefix(own_keys[1].prefix).state == "active"
    own_keys[2].revoke()
    assert own_keys[1].rotate(60)
    with pytest.raises(TooManyKeys, match="has 100 keys that work"):
        Key.issue(project)
    assert working(project, clock) == keys.MAX_WORKING_KEYS
    Key.update(expires_ms=clock.now_ms).where(Key.id == own_keys[1].id).execute()
    assert Key.issue(project)
    assert working(project, clock) == keys.MAX_WORKING_KEYS


def test_concurrent_issuing_and_rotation_stay_within_the_limit(
    own_keys: list[Key], project: Project, clock: Clock
):
    own_keys[0].revoke()

    def issue_or_rotate(number: int) -> None:
        with suppress(TooManyKeys, KeyNotActive):
            own_keys[number].rotate(60) if number else Key.issue(project)

    at_once(issue_or_rotate, [0, 1, 2] * 2)
    assert working(project, clock) == keys.MAX_WORKING_KEYS


def issue_and_revoke(project: Project) -> str:
    """Issue a key that ends at once; return its prefix."""
    prefix = Key.issue(project)[:16]
    Key.find_by_prefix(prefix).revoke()
    return prefix


def ended(project: Project) -> list[str]:
    return [key.prefix for key in list_keys(project.id, "ended")]


def test_the_newest_ended_keys_are_kept_for_30_days(
    project: Project, key: str, rival: Project, clock: Clock
):
    foreign = issue_and_revoke(rival)
    oldest = [issue_and_revoke(project) for _ in range(2)]
    clock.move(seconds=1)
    fill_up_ended_keys(project, leave=2)
    assert ended(project)[-2:] == oldest[::-1]
    clock.move(seconds=1)
    prefixes = [issue_and_revoke(project) for _ in range(2)]
    assert ended(project)[:2] == prefixes[::-1]
    assert not set(oldest) & set(ended(project))
    assert ended(rival) == [foreign]
    assert Key.issue(project)
    kept = Key.select().where(Key.project == project)
    assert kept.count() == MAX_ENDED_KEYS + 2
    assert Key.find_by_prefix(key[:16]).state == "active"
    clock.move(days=30, seconds=-0.001)
    assert ended(project) == prefixes[::-1]
    clock.move(seconds=0.001)
    assert ended(project) == []
    for _ in range(5):  # each deletes some
        Key.issue(project)
    assert kept.count() == 2 + 5


@pytest.mark.parametrize(
    ("end", "state"),
    [(Key.revoke, "revoked"), (lambda key: key.rotate(0), "retired")],
)
def test_key_that_ends_at_once_ends_whatever_the_clocks_of_other_hosts_say(
    project: Project, clock: Clock, end: Callable[[Key], object], state: str
):
    key = Key.issue(project)
    end(Key.find_by_prefix(key[:16]))
    clock.move(seconds=-30)
    assert Caller.find_by_key(key) is None
    assert Key.find_by_prefix(key[:16]).state == state


def test_queries_and_states_agree_on_which_keys_work(project: Project):
    columns = ("expires_ms", "retires_ms", "revoked_ms")
    common = {"project": project, "digest": b"", "created_ms": START_MS}
    ends = product([None, START_MS - 1, START_MS, START_MS + 1], repeat=3)
    for number, each in enumerate(ends):
        Key.create(
            prefix=f"{number}", **common, **dict(zip(columns, each, strict=True))
        )
    working = list_keys(project.id, "working")
    for number in range(4**3):
        key = Key.find_by_prefix(f"{number}")
        ends = [end for end in (key.expires_ms, key.retires_ms) if end is not None]
        assert key.ends_ms == min(ends, default=None)
        works = key.revoked_ms is None and all(end > START_MS for end in ends)
        assert works == (key in working) == (key.state in ("active", "retiring"))


def test_sessions_go_with_their_key(project: Project, key: str, clock: Clock):
    Session.begin(Caller.find_by_key(key))
    Key.find_by_prefix(key[:16]).revoke()
    clock.move(seconds=1)
    fill_up_ended_keys(project, leave=0)
    Key.issue(project)
    assert Session.select().count() == 0
