"""Keys that have ended: few are kept, and none makes anything slower."""

from collections.abc import Callable
from itertools import product

import pytest

from petstore.models.callers import Caller
from petstore.models.keys import MAX_ENDED_KEYS, Key
from petstore.models.projects import Project
from petstore.models.sessions import Session
from tests.harness.clocks import START_MS, Clock
from tests.harness.limits import fill_up_ended_keys


def issue_and_revoke(project: Project, count: int = 1) -> list[str]:
    """Issue keys that end at once; return their prefixes."""
    prefixes = [Key.issue(project)[:16] for _ in range(count)]
    for prefix in prefixes:
        Key.by_prefix(prefix).revoke()
    return prefixes


def ended(project: Project) -> list[str]:
    return [key.prefix for key in Key.listed(project.id, "ended")]


def test_the_newest_ended_keys_are_kept(project: Project, clock: Clock):
    working = Key.issue(project)[:16]
    oldest = issue_and_revoke(project, 3)
    clock.move(seconds=1)
    fill_up_ended_keys(project, leave=3)
    assert ended(project)[-3:] == oldest[::-1]
    prefixes = []
    for _ in range(3):
        clock.move(seconds=1)
        prefixes += issue_and_revoke(project)
    assert ended(project)[:3] == prefixes[::-1]
    assert not set(oldest) & set(ended(project))
    Key.issue(project)
    kept = Key.select().where(Key.project == project).count()
    assert kept == MAX_ENDED_KEYS + 2
    assert Key.by_prefix(working).state == "active"


def test_ended_keys_are_kept_for_30_days(project: Project, clock: Clock):
    prefixes = issue_and_revoke(project, 2)
    clock.move(days=29.9)
    assert ended(project) == prefixes[::-1]
    clock.move(days=0.1)
    assert ended(project) == Key.all_by_id(project) == []
    Key.issue(project)
    assert Key.select().where(Key.project == project).count() == 1


@pytest.mark.parametrize(
    ("expires", "grace", "state"),
    [(60, 30, "retired"), (30, 60, "expired"), (30, None, "expired")],
)
def test_key_counts_as_ended_from_its_first_end(
    project: Project, clock: Clock, expires: int, grace: int | None, state: str
):
    key = Key.by_prefix(Key.issue(project, expires_ms=START_MS + expires * 1000)[:16])
    if grace is not None:
        key.rotate(grace)
    clock.move(seconds=29)
    assert key.prefix not in ended(project)
    clock.move(seconds=1)
    assert key.prefix in ended(project)
    assert Key.by_prefix(key.prefix).state == state


@pytest.mark.parametrize(
    ("end", "state"),
    [(Key.revoke, "revoked"), (lambda key: key.rotate(0), "retired")],
)
def test_key_that_ends_at_once_ends_whatever_the_clocks_of_other_hosts_say(
    project: Project, clock: Clock, end: Callable[[Key], object], state: str
):
    key = Key.issue(project)
    end(Key.by_prefix(key[:16]))
    clock.move(seconds=-30)
    assert Caller.of(key) is None
    assert Key.by_prefix(key[:16]).state == state


ENDS = [None, START_MS - 1, START_MS, START_MS + 1]


def test_queries_and_states_agree_on_which_keys_work(project: Project):
    for expires, retires, revoked in product(ENDS, repeat=3):
        prefix = Key.issue(project)[:16]
        Key.update(expires_ms=expires, retires_ms=retires, revoked_ms=revoked).where(
            Key.prefix == prefix
        ).execute()
        key, listed = Key.by_prefix(prefix), Key.listed(project.id, "working")
        ends = [end for end in (expires, retires) if end is not None]
        assert key.ends_ms == min(ends, default=None)
        works = key.state in ("active", "retiring")
        assert works == (revoked is None and all(end > START_MS for end in ends))
        assert works == (prefix in [each.prefix for each in listed])
        Key.delete().where(Key.prefix == prefix).execute()


def test_sessions_go_with_their_key(project: Project, key: str, clock: Clock):
    Session.begin(Caller.of(key))
    Key.by_prefix(key[:16]).revoke()
    clock.move(seconds=1)
    fill_up_ended_keys(project, leave=0)
    Key.issue(project)
    assert Session.select().count() == 0
