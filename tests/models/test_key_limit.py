"""A project has at most 100 working keys."""

from contextlib import suppress

import pytest

from petstore.models import keys
from petstore.models.keys import Key, KeyNotActive, TooManyKeys
from petstore.models.projects import Project
from tests.clocks import Clock
from tests.crowds import at_once

MOST = 3


@pytest.fixture
def own_keys(project: Project, monkeypatch: pytest.MonkeyPatch) -> list[Key]:
    """As many keys as the project may have; the limit is lowered for the test."""
    monkeypatch.setattr(keys, "MAX_WORKING_KEYS", MOST)
    for _ in range(MOST):
        Key.issue(project)
    return Key.all_by_id(project)


def working(project: Project, clock: Clock) -> int:
    now = clock.now_ms
    return Key.select().where(Key.project == project, Key.works_at(now)).count()


def test_limit_is_100_keys():
    assert keys.MAX_WORKING_KEYS == 100


def test_key_beyond_the_limit_is_refused(
    own_keys: list[Key], project: Project, clock: Clock
):
    with pytest.raises(TooManyKeys, match=f"has {MOST} keys that work"):
        Key.issue(project)
    assert working(project, clock) == MOST


def test_another_project_has_its_own_limit(own_keys: list[Key], rival: Project):
    assert Key.issue(rival)


ENDS = {
    "revoked": lambda key, _clock: key.revoke(),
    "retired": lambda key, _clock: key.rotate(0),
    "expired": lambda key, clock: (
        Key.update(expires_ms=clock.now_ms).where(Key.id == key.id).execute()
    ),
}


@pytest.mark.parametrize("end", ENDS)
def test_ended_key_is_not_counted(
    own_keys: list[Key], project: Project, clock: Clock, end: str
):
    ENDS[end](own_keys[0], clock)
    with suppress(TooManyKeys):  # the successor of a rotated key takes its place
        Key.issue(project)
    assert working(project, clock) == MOST


def test_rotating_without_grace_replaces_a_key(
    own_keys: list[Key], project: Project, clock: Clock
):
    own_keys[0].rotate(0)
    assert working(project, clock) == MOST


def test_rotating_with_grace_needs_room_for_both(
    own_keys: list[Key], project: Project, clock: Clock
):
    with pytest.raises(TooManyKeys):
        own_keys[0].rotate(60)
    assert own_keys[0].state == Key.by_prefix(own_keys[0].prefix).state == "active"
    own_keys[1].revoke()
    assert own_keys[0].rotate(60)
    assert working(project, clock) == MOST


def test_concurrent_issuing_stays_within_the_limit(
    own_keys: list[Key], project: Project, clock: Clock
):
    Key.update(revoked_ms=1).where(Key.project == project).execute()

    def issue(_: int) -> None:
        with suppress(TooManyKeys):
            Key.issue(project)

    at_once(issue, range(4 * MOST))
    assert working(project, clock) == MOST


def test_concurrent_rotation_stays_within_the_limit(
    own_keys: list[Key], project: Project, clock: Clock
):
    own_keys[0].revoke()

    def rotate(number: int) -> None:
        with suppress(TooManyKeys, KeyNotActive):
            own_keys[1 + number % 2].rotate(60)

    at_once(rotate, range(8))
    assert working(project, clock) == MOST
