"""Tests that requests without a valid key count by address."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from petstore.models.credentials import new_key
from petstore.models.keys import Key
from petstore.models.projects import Project
from tests.core.quotas.requests import PETS, on_one_store, remaining, retry_after
from tests.harness.clocks import Clock

pytestmark = on_one_store


def test_unauthenticated_requests_have_the_free_plan_limits_whatever_they_show(
    stranger: FlaskClient, client: FlaskClient, clock: Clock
):
    shown = ["", "Bearer", "Bearer pet_x", "Basic cGV0OnBldA==", f"Bearer {new_key()}"]
    paths = [PETS, "/v1", "/v1/nothing", f"{PETS}/x", f"{PETS}/"]
    for number in range(60):
        headers = {"Authorization": shown[number % 5]}
        answer = stranger.get(paths[number % 7 % 5], headers=headers)
        assert answer.status_code == 401
        assert remaining(answer) == (59 - number, 999 - number)
    refused = stranger.get(PETS)
    assert refused.json["message"] == (
        "Without a valid API key, an address may send 60 requests a minute; "
        "wait 50 seconds."
    )
    served = client.get(PETS)
    assert (served.status_code, remaining(served)) == (200, (2, 4))
    clock.move(seconds=retry_after(refused))
    assert remaining(stranger.get(PETS)) == (59, 939)


@pytest.mark.parametrize(
    ("one", "other", "are_one"),
    [
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", True),
        ("2001:db8:1:2::1", "2001:DB8:1:2:0::7", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("fe80::1%eth0", "fe80::2%eth1", True),
        ("", "neither an address", True),
    ],
)
def test_ipv4_is_counted_by_address_and_ipv6_by_prefix(
    stranger: FlaskClient, one: str, other: str, are_one: bool
):
    stranger.get(PETS, environ_overrides={"REMOTE_ADDR": one})
    answer = stranger.get(PETS, environ_overrides={"REMOTE_ADDR": other})
    assert remaining(answer) == ((58, 998) if are_one else (59, 999))


def test_revoked_key_counts_against_its_address(
    client: FlaskClient, project: Project, client_of: Callable[[str], FlaskClient]
):
    [row] = Key.all_by_id(project)
    row.revoke()
    answer = client.get(PETS)
    assert answer.status_code == 401
    assert remaining(answer) == (59, 999)
    assert remaining(client_of(Key.issue(project)).get(PETS)) == (2, 4)
