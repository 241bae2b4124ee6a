"""Events are logged once the change is committed."""

import json
from collections.abc import Callable

import pytest

from petstore.models.domains import Domain
from petstore.models.grants import FULL_GRANT
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.storage import db
from tests.harness.clocks import Clock

Told = Callable[[], list[str]]


@pytest.fixture
def own_key(key: str) -> Key:
    """The database row of the project's key."""
    return Key.by_prefix(key[:16])


@pytest.fixture
def told(own_key: Key, capfd: pytest.CaptureFixture[str]) -> Told:
    """A function that returns the names of the events since its last call."""
    capfd.readouterr()

    def told() -> list[str]:
        lines = capfd.readouterr().out.splitlines()
        return [json.loads(line)["event"] for line in lines]

    return told


CHANGES = {
    "key_created": lambda project, _key: Key.issue(project),
    "key_changed": lambda _project, key: key.change(FULL_GRANT, "Till"),
    "key_rotated": lambda _project, key: key.rotate(60),
    "key_revoked": lambda _project, key: key.revoke(),
    "key_banned": lambda _project, key: Key.ban(key.id, 2**62),
    "plan_changed": lambda project, _key: project.change_plan(Plan("free")),
    "domain_added": lambda project, _key: Domain.add(project, "shop.example.org"),
}


@pytest.mark.parametrize("event", CHANGES)
def test_event_is_logged_after_its_transaction_commits(
    told: Told, project: Project, own_key: Key, event: str
):
    with db.atomic():
        CHANGES[event](project, own_key)
        assert told() == []
    assert event in told()


@pytest.mark.parametrize("event", CHANGES)
def test_rolled_back_change_logs_no_event(
    told: Told, project: Project, own_key: Key, event: str
):
    with db.atomic() as transaction:
        CHANGES[event](project, own_key)
        transaction.rollback()
    assert told() == []


def test_ending_what_has_ended_logs_no_event(told: Told, own_key: Key, clock: Clock):
    own_key.unban()
    Key.ban(own_key.id, clock.now_ms)
    own_key.unban()
    for _ in range(2):
        own_key.revoke()
    assert told() == ["key_banned", "key_revoked"]


def test_setting_the_same_plan_logs_no_event(told: Told, project: Project):
    for plan in (
        Plan("business"),
        Plan("enterprise", 5, 50),
        Plan("enterprise", 5, 50),
    ):
        project.change_plan(plan)
    project.change_plan(Plan("enterprise", 5, 60))
    assert told() == ["plan_changed", "plan_changed"]
