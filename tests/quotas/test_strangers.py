"""Requests without a valid key are counted against their address (decisions 6)."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from petstore.models.credentials import new_key
from petstore.models.keys import Key
from petstore.models.projects import Project
from tests.clocks import Clock
from tests.quotas.requests import PETS, ask, remaining

UNKNOWN = pytest.param(f"Bearer {new_key()}", id="unknown")
ClientOf = Callable[[str | None], FlaskClient]


def test_strangers_have_the_limits_of_the_free_plan(
    stranger: FlaskClient, clock: Clock
):
    assert ask(stranger, 61) == [401] * 60 + [429]
    assert stranger.get(PETS).json["code"] == "rate_limit_exceeded"
    clock.move(seconds=60)
    assert remaining(stranger.get(PETS)) == (59, 939)


def test_who_guesses_keys_runs_into_429(client_of: ClientOf):
    statuses = [ask(client_of(new_key()))[0] for _ in range(62)]
    assert statuses == [401] * 60 + [429] * 2


@pytest.mark.parametrize(
    "authorization",
    ["", "Bearer", "Bearer pet_x", "Basic cGV0OnBldA==", UNKNOWN],
)
def test_whatever_is_no_valid_key_is_counted_in_one_place(
    stranger: FlaskClient, authorization: str
):
    stranger.get(PETS)
    answer = stranger.get(PETS, headers={"Authorization": authorization})
    assert answer.status_code == 401
    assert remaining(answer) == (58, 998)


@pytest.mark.parametrize("path", ["/v1", "/v1/nothing", f"{PETS}/x", f"{PETS}/"])
def test_paths_that_do_not_exist_cost_as_much(stranger: FlaskClient, path: str):
    assert stranger.get(path).status_code == 401
    assert remaining(stranger.get(PETS)) == (58, 998)


ADDRESSES = [
    ("192.0.2.1", "192.0.2.1", True),
    ("192.0.2.1", "192.0.2.2", False),
    ("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", True),
    ("2001:db8:1:2::1", "2001:DB8:1:2:0::7", True),
    ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
    ("fe80::1%eth0", "fe80::2%eth1", True),
    ("::ffff:192.0.2.1", "192.0.2.1", True),
    ("::ffff:c000:201", "192.0.2.1", True),
    ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
    ("", "neither an address", True),
]


@pytest.mark.parametrize("store", ["database"], indirect=True)
@pytest.mark.parametrize(("one", "other", "are_one"), ADDRESSES)
def test_strangers_are_told_apart_by_address(
    stranger: FlaskClient, one: str, other: str, are_one: bool
):
    stranger.get(PETS, environ_overrides={"REMOTE_ADDR": one})
    answer = stranger.get(PETS, environ_overrides={"REMOTE_ADDR": other})
    assert remaining(answer) == ((58, 998) if are_one else (59, 999))


def test_a_forwarded_address_is_not_believed(stranger: FlaskClient):
    for octet in range(3):
        answer = stranger.get(PETS, headers={"X-Forwarded-For": f"192.0.2.{octet}"})
    assert remaining(answer) == (57, 997)


def test_a_valid_key_is_served_from_an_address_that_is_used_up(
    stranger: FlaskClient, client: FlaskClient
):
    assert ask(stranger, 61)[-1] == 429
    answer = client.get(PETS)
    assert answer.status_code == 200
    assert remaining(answer) == (2, 4)


def test_a_valid_key_costs_its_address_nothing(
    stranger: FlaskClient, client: FlaskClient
):
    ask(client, 5)
    assert remaining(stranger.get(PETS)) == (59, 999)


def test_a_revoked_key_is_a_stranger(
    client: FlaskClient, key: str, project: Project, client_of: ClientOf
):
    [row] = Key.all_by_id(project)
    row.revoke()
    answer = client.get(PETS)
    assert answer.status_code == 401
    assert remaining(answer) == (59, 999)
    assert remaining(client_of(Key.issue(project)).get(PETS)) == (2, 4)
