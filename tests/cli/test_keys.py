"""flask keys create, list, revoke and unban."""

import json
import re
from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from petstore.api.last_used import last_used
from petstore.models import keys
from petstore.models.keys import Key
from petstore.models.projects import Project
from tests.cli.outputs import printed, refusal, table
from tests.clocks import NOON_MS, Clock

PREFIX_LENGTH = 16


def listed(flask: Callable, *arguments: str) -> dict[str, dict[str, str]]:
    """Return the rows of `flask keys list` by prefix."""
    return {row["PREFIX"]: row for row in table(flask("keys", "list", *arguments))}


def is_working(client_of: Callable, key: str) -> bool:
    return client_of(key).get("/v1/pets").status_code == 200


def test_create_prints_a_working_key(
    flask: Callable, project: Project, client_of: Callable
):
    key = printed(flask("keys", "create"))
    assert re.fullmatch("pet_[0-9A-Za-z]{48}", key)
    assert is_working(client_of, key)


def test_key_belongs_to_the_named_project(
    flask: Callable, project: Project, rival: Project
):
    key = printed(flask("keys", "create", "--project", "rival"))
    assert listed(flask)[key[:PREFIX_LENGTH]]["PROJECT"] == "rival"


def test_create_requires_a_project_name_if_there_are_several(
    flask: Callable, project: Project, rival: Project
):
    message = "Which project? Give --project with one of rival, shelter."
    assert refusal(flask("keys", "create")) == message


def test_create_without_any_project_is_refused(flask: Callable):
    message = "There is no project yet: flask projects create NAME makes one."
    assert refusal(flask("keys", "create")) == message


def test_the_list_shows_everything_but_the_key(flask: Callable, project: Project):
    key = printed(flask("keys", "create", "--label", "CI", "--expires-in", "1.5"))
    assert table(flask("keys", "list")) == [
        {
            "PREFIX": key[:PREFIX_LENGTH],
            "LABEL": "CI",
            "CREATED": "2027-03-17T12:00:10Z",
            "LAST USED": "-",
            "EXPIRES": "2027-03-19T00:00:10Z",
            "REVOKED": "-",
            "BANNED UNTIL": "-",
            "PROJECT": "shelter",
        }
    ]
    assert key[PREFIX_LENGTH:] not in flask("keys", "list").output


def test_json_list_is_one_array(flask: Callable, key: str):
    assert json.loads(flask("keys", "list", "--json").stdout) == [
        {
            "prefix": key[:PREFIX_LENGTH],
            "label": None,
            "created": "2027-03-17T12:00:10Z",
            "lastUsed": None,
            "expires": None,
            "revoked": None,
            "bannedUntil": None,
            "project": "shelter",
        }
    ]


def test_list_can_be_limited_to_one_project(flask: Callable, key: str, rival: Project):
    other = Key.issue(rival)
    assert list(listed(flask)) == [key[:PREFIX_LENGTH], other[:PREFIX_LENGTH]]
    assert list(listed(flask, "--project", "rival")) == [other[:PREFIX_LENGTH]]


def test_the_list_shows_when_a_key_was_last_used(
    flask: Callable, client: FlaskClient, key: str, clock: Clock
):
    clock.move(seconds=50)
    client.get("/v1/pets")
    last_used.flush()
    assert listed(flask)[key[:PREFIX_LENGTH]]["LAST USED"] == "2027-03-17T12:01:00Z"


def test_last_use_is_updated_at_most_every_ten_minutes(
    flask: Callable, client: FlaskClient, key: str, clock: Clock
):
    seen = []
    for seconds in (0, 599, 1):
        clock.move(seconds=seconds)
        client.get("/v1/pets")
        last_used.flush()
        seen.append(listed(flask)[key[:PREFIX_LENGTH]]["LAST USED"])
    assert seen == ["2027-03-17T12:00:10Z"] * 2 + ["2027-03-17T12:10:10Z"]


def test_key_expires_after_the_given_number_of_days(
    flask: Callable, project: Project, client_of: Callable, clock: Clock
):
    key = printed(flask("keys", "create", "--expires-in", "2"))
    clock.move(days=2, seconds=-1)
    assert is_working(client_of, key)
    clock.move(seconds=1)
    assert not is_working(client_of, key)


def test_revoked_key_stops_working_and_stays_revoked(
    flask: Callable, key: str, client_of: Callable, clock: Clock
):
    for _ in range(2):
        result = flask("keys", "revoke", key[:PREFIX_LENGTH])
        assert (result.exit_code, result.output) == (0, "")
        clock.move(seconds=60)
    assert not is_working(client_of, key)
    assert listed(flask)[key[:PREFIX_LENGTH]]["REVOKED"] == "2027-03-17T12:00:10Z"


def test_unbanned_key_works_again_at_once(
    flask: Callable, project: Project, client_of: Callable
):
    key = Key.issue(project, banned_until_ms=NOON_MS + 60_000)
    assert not is_working(client_of, key)
    result = flask("keys", "unban", key[:PREFIX_LENGTH])
    assert (result.exit_code, result.output) == (0, "")
    assert is_working(client_of, key)


def test_expired_ban_is_not_listed(flask: Callable, project: Project, clock: Clock):
    key = Key.issue(project, banned_until_ms=NOON_MS + 60_000)
    assert listed(flask)[key[:PREFIX_LENGTH]]["BANNED UNTIL"] == "2027-03-17T12:01:10Z"
    clock.move(seconds=60)
    assert listed(flask)[key[:PREFIX_LENGTH]]["BANNED UNTIL"] == "-"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("create", "--project", "nobody"), "There is no project 'nobody'."),
        (("create", "--project", ""), "There is no project ''."),
        (("create", "--label", ""), "--label must have 1 to 200 characters."),
        (("create", "--label", "a\nb"), "--label must not be blank and"),
        (("create", "--expires-in", "0"), "--expires-in must be more than 0 and"),
        (("create", "--expires-in", "-1"), "--expires-in must be more than 0 and"),
        (("create", "--expires-in", "36501"), "--expires-in must be more than 0 and"),
        (("create", "--expires-in", "nan"), "--expires-in must be more than 0 and"),
        (("create", "--expires-in", "inf"), "--expires-in must be more than 0 and"),
        (("create", "--expires-in", "soon"), "Invalid value for '--expires-in'"),
        (("list", "--project", "nobody"), "There is no project 'nobody'."),
        (("list", "--project", ""), "There is no project ''."),
        (("revoke", "pet_0"), "There is no key 'pet_0'; see flask keys list."),
        (("revoke", "%"), "There is no key '%'; see flask keys list."),
        (("unban", ""), "There is no key ''; see flask keys list."),
        (("rotate", "a\nb"), r"There is no key 'a\nb'; see flask keys list."),
        (("rotate", "pet_0", "--grace", "-1"), "Invalid value for '--grace'"),
        (("rotate", "pet_0", "--grace", "1.5"), "Invalid value for '--grace'"),
        (("rotate", "pet_0", "--grace", "31536001"), "Invalid value for '--grace'"),
    ],
)
def test_invalid_argument_is_refused_in_one_line(
    flask: Callable, key: str, arguments: tuple, message: str
):
    assert refusal(flask("keys", *arguments)).startswith(message)
    assert len(listed(flask)) == 1


@pytest.mark.parametrize("command", ["revoke", "unban", "rotate"])
def test_whole_key_is_not_accepted_as_a_prefix(flask: Callable, key: str, command: str):
    message = refusal(flask("keys", command, key))
    assert message == f"Give only the beginning of the key: {key[:16]}"


def test_key_beyond_the_limit_is_refused(
    flask: Callable, key: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(keys, "MAX_WORKING_KEYS", 1)
    for command in (["create"], ["rotate", key[:PREFIX_LENGTH]]):
        message = refusal(flask("keys", *command))
        assert message.startswith("The project has 1 keys that work, and may not have")
    assert len(listed(flask)) == 1
