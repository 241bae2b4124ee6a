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


def test_key_beyond_the_limit_is_refused_until_one_has_ended(
    own_keys: list[Key], project: Project, rival: Project, clock: Clock
):
    assert Key.issue(rival)
    own_keys[0].rotate(0)  # whose successor takes its place
    with pytest.raises(TooManyKeys):
        own_keys[1].rotate(60)  # which needs room for both
    assert own_keys[1].state == Key.by_prefix(own_keys[1].prefix).state == "active"
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
