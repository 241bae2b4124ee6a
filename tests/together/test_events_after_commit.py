"""Events are logged, and kept for the project, once the change is committed."""

import json
from collections.abc import Callable

import pytest

from petstore.extensions.dashboard import keys
from petstore.extensions.hosting.models import Domain
from petstore.models.activity import Event
from petstore.models.grants import FULL_GRANT
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.storage import db
from tests.harness.clocks import Clock
from tests.harness.databases import each_engine

database_url = each_engine

Told = Callable[[], list[str]]


@pytest.fixture
def own_key(key: str) -> Key:
    """The database row of the project's key."""
    return Key.find_by_prefix(key[:16])


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
    "key_changed": lambda _project, key: keys.change(key, FULL_GRANT, "Till"),
    "key_banned": lambda _project, key: Key.ban(key.id, 2**62),
    "key_rotated": lambda _project, key: key.rotate(60),
    "key_revoked": lambda _project, key: key.revoke(),
    "domain_added": lambda project, _key: Domain.add(project, "shop.example.org"),
    "plan_changed": lambda project, _key: project.change_plan(Plan("free")),
}


def test_events_are_logged_after_their_transaction_commits_and_never_if_it_does_not(
    told: Told, project: Project, own_key: Key
):
    before = Event.select().count()
    for events in (set(), CHANGES.keys()):
        with db.atomic() as transaction:
            for change in CHANGES.values():
                change(Project.get_by_id(project.id), Key.get_by_id(own_key.id))
            assert told() == []
            if not events:
                transaction.rollback()
        assert set(told()) == events
        assert (Event.select().count() > before) == bool(events)


def test_what_changes_nothing_logs_no_event(
    told: Told, project: Project, own_key: Key, clock: Clock
):
    own_key.unban()
    Key.ban(own_key.id, clock.now_ms)
    own_key.unban()
    for _ in range(2):
        own_key.revoke()
    for per_day in (50, 50, 60):
        project.change_plan(Plan("enterprise", 5, per_day))
    changes = ["key_banned", "key_revoked", "plan_changed", "plan_changed"]
    assert told() == changes
