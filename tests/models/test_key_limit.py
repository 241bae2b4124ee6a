"""A project has at most 100 working keys."""

from contextlib import suppress

import pytest

from petstore.models import keys
from petstore.models.keys import Key, KeyNotActive, TooManyKeys
from petstore.models.projects import Project
from tests.harness.clocks import Clock
from tests.harness.crowds import at_once
from tests.harness.limits import fill_up_keys


@pytest.fixture
def own_keys(project: Project) -> list[Key]:
    """Three of the keys of a project that has as many as it may have."""
    own_keys = [Key.by_prefix(Key.issue(project)[:16]) for _ in range(3)]
    fill_up_keys(project, leave=0)
    return own_keys


def working(project: Project, clock: Clock) -> int:
    now = clock.now_ms
    return Key.select().where(Key.project == project, Key.works_at(now)).count()


def test_key_beyond_the_limit_is_refused(
    own_keys: list[Key], project: Project, rival: Project, clock: Clock
):
    with pytest.raises(TooManyKeys, match="has 100 keys that work"):
        Key.issue(project)
    assert working(project, clock) == keys.MAX_WORKING_KEYS
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
    assert working(project, clock) == keys.MAX_WORKING_KEYS


def test_rotating_with_grace_needs_room_for_both(
    own_keys: list[Key], project: Project, clock: Clock
):
    with pytest.raises(TooManyKeys):
        own_keys[0].rotate(60)
    assert own_keys[0].state == Key.by_prefix(own_keys[0].prefix).state == "active"
    own_keys[1].revoke()
    assert own_keys[0].rotate(60)
    assert working(project, clock) == keys.MAX_WORKING_KEYS


def test_concurrent_issuing_and_rotation_stay_within_the_limit(
    own_keys: list[Key], project: Project, clock: Clock
):
    own_keys[0].revoke()

    def issue_or_rotate(number: int) -> None:
        with suppress(TooManyKeys, KeyNotActive):
            own_keys[number].rotate(60) if number else Key.issue(project)

    at_once(issue_or_rotate, [0, 1, 2] * 3)
    assert working(project, clock) == keys.MAX_WORKING_KEYS
