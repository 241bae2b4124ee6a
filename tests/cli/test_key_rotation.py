"""flask keys rotate: the grace period and the successor."""

from collections.abc import Callable

import pytest

from petstore.models.keys import Key
from petstore.models.projects import Project
from tests.answers import error_of
from tests.cli.outputs import printed, refusal, table
from tests.clocks import NOON_MS, Clock

PREFIX_LENGTH = 16
A_DAY_SECONDS = 86_400


@pytest.fixture
def rotate(flask: Callable) -> Callable:
    """Return a function that rotates a key and returns the command's result."""
    return lambda key, *options: flask("keys", "rotate", key[:PREFIX_LENGTH], *options)


def row_of(flask: Callable, key: str) -> dict[str, str]:
    rows = table(flask("keys", "list"))
    return next(row for row in rows if row["PREFIX"] == key[:PREFIX_LENGTH])


def is_working(client_of: Callable, key: str) -> bool:
    return client_of(key).get("/v1/pets").status_code == 200


def test_rotated_key_works_for_another_day(
    rotate: Callable, key: str, client_of: Callable, clock: Clock
):
    successor = printed(rotate(key))
    clock.move(seconds=A_DAY_SECONDS - 1)
    assert is_working(client_of, key)
    clock.move(seconds=1)
    assert not is_working(client_of, key)
    assert is_working(client_of, successor)


def test_grace_of_0_disables_the_old_key_at_once(
    rotate: Callable, key: str, client_of: Callable
):
    successor = printed(rotate(key, "--grace", "0"))
    assert not is_working(client_of, key)
    assert is_working(client_of, successor)


def test_list_shows_the_end_of_the_grace_period(
    flask: Callable, rotate: Callable, key: str
):
    rotate(key, "--grace", "3600")
    assert row_of(flask, key)["EXPIRES"] == "2027-03-17T13:00:10Z"


def test_grace_period_does_not_extend_the_expiry_of_a_key(
    flask: Callable,
    rotate: Callable,
    project: Project,
    client_of: Callable,
    clock: Clock,
):
    key = Key.issue(project, expires_ms=NOON_MS + 60_000)
    rotate(key, "--grace", "3600")
    assert row_of(flask, key)["EXPIRES"] == "2027-03-17T12:01:10Z"
    clock.move(seconds=60)
    assert not is_working(client_of, key)


def test_the_successor_inherits_label_expiry_and_ban(
    flask: Callable, rotate: Callable, project: Project, client_of: Callable
):
    ban = NOON_MS + 60_000
    key = Key.issue(project, label="CI", expires_ms=ban + 1000, banned_until_ms=ban)
    successor = printed(rotate(key))
    row = row_of(flask, successor)
    assert (row["LABEL"], row["EXPIRES"]) == ("CI", "2027-03-17T12:01:11Z")
    assert row["BANNED UNTIL"] == "2027-03-17T12:01:10Z"
    assert error_of(client_of(successor).get("/v1/pets")) == (429, "api_key_banned")


def test_the_successor_belongs_to_the_same_project(
    flask: Callable, rotate: Callable, project: Project, rival: Project
):
    successor = printed(rotate(Key.issue(rival)))
    assert row_of(flask, successor)["PROJECT"] == "rival"


def test_key_can_be_rotated_only_once(flask: Callable, rotate: Callable, key: str):
    printed(rotate(key))
    message = f"The key {key[:PREFIX_LENGTH]} is revoked, expired or rotated already."
    assert refusal(rotate(key)) == message
    assert len(table(flask("keys", "list"))) == 2


def test_revoked_or_expired_key_cannot_be_rotated(
    flask: Callable, rotate: Callable, project: Project, key: str
):
    flask("keys", "revoke", key[:PREFIX_LENGTH])
    for ended in (key, Key.issue(project, expires_ms=NOON_MS)):
        assert "is revoked, expired or" in refusal(rotate(ended))
    assert len(table(flask("keys", "list"))) == 2


def test_a_rotated_key_can_still_be_revoked(
    flask: Callable, rotate: Callable, key: str, client_of: Callable
):
    successor = printed(rotate(key))
    flask("keys", "revoke", key[:PREFIX_LENGTH])
    assert not is_working(client_of, key)
    assert is_working(client_of, successor)
