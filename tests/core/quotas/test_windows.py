"""The two windows of a quota (specification section 8), and clocks set back."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.storage import counters
from tests.core.quotas.requests import (
    DAY_END_MS,
    PETS,
    on_one_store,
    remaining,
    retry_after,
    send,
)
from tests.harness.clocks import START_MS, Clock
from tests.harness.databases import locked

MINUTE_END_MS = START_MS + 50_000


def test_a_minute_ends_with_the_utc_minute(client: FlaskClient, clock: Clock):
    assert send(client, 10) == [200] * 3 + [429] * 7
    clock.set_ms(MINUTE_END_MS - 1)
    assert send(client) == [429]
    clock.set_ms(MINUTE_END_MS)
    # Refusals by the minute have not counted against the day.
    assert remaining(client.get(PETS)) == (2, 1)


def test_a_day_ends_with_the_utc_day(client: FlaskClient, clock: Clock):
    assert send(client, 3) == [200] * 3
    clock.move(seconds=3600)
    assert send(client, 10) == [200] * 2 + [429] * 8
    # Refusals by the day have not counted against the minute.
    assert remaining(client.get(PETS)) == (1, 0)
    clock.set_ms(DAY_END_MS - 1)
    assert send(client) == [429]
    clock.set_ms(DAY_END_MS)
    assert send(client, 4) == [200, 200, 200, 429]


def test_enterprise_plan_has_custom_limits(client: FlaskClient, project: Project):
    project.change_plan(Plan("enterprise", 7_000_000_000, 10**12))
    assert remaining(client.get(PETS)) == (6_999_999_999, 10**12 - 1)


@on_one_store
def test_changes_of_plan_keep_the_counts(client: FlaskClient, project: Project):
    assert send(client, 4) == [200, 200, 200, 429]
    project.change_plan(Plan("enterprise", 5, 100))
    assert remaining(client.get(PETS)) == (1, 96)
    project.change_plan(Plan("enterprise", 1, 10))
    refused = client.get(PETS)
    assert refused.status_code == 429
    assert refused.headers["X-RateLimit-Limit"] == "1"
    assert remaining(refused) == (0, 6)


@on_one_store
def test_the_keys_of_a_project_share_its_quota_and_others_have_their_own(
    client: FlaskClient,
    rival_client: FlaskClient,
    client_of: Callable[[str], FlaskClient],
    project: Project,
):
    other = client_of(Key.issue(project))
    assert send(client, 2) == [200, 200]
    assert send(other, 2) == [200, 429]
    assert send(client) == [429]
    assert remaining(rival_client.get(PETS)) == (999, 99_999)


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
@pytest.mark.usefixtures("store")
def test_figures_are_those_last_known_while_a_counter_is_locked(
    request: pytest.FixtureRequest, set_limits: Callable[..., None]
):
    set_limits(busy_seconds=0.01)
    stranger, client = map(request.getfixturevalue, ("stranger", "client"))
    known, own = remaining(stranger.get(PETS)), remaining(client.get(PETS))
    with locked(str(counters.file)):
        assert remaining(stranger.options(PETS)) == known
        refused = client.get(PETS)
    assert (refused.status_code, remaining(refused)) == (503, own)


@on_one_store
def test_refused_request_has_no_effect(client: FlaskClient, clock: Clock):
    rex = {"name": "Rex", "categoryId": 1}
    statuses = [client.post(PETS, json=rex).status_code for _ in range(4)]
    assert statuses == [201, 201, 201, 429]
    clock.move(seconds=60)
    assert len(client.get(PETS).json) == 3


def test_setback_into_previous_minute_counts_in_the_later_one(
    client: FlaskClient, clock: Clock
):
    # The same holds for a slow request that is counted after its minute has ended.
    clock.set_ms(MINUTE_END_MS)
    assert send(client, 2) == [200, 200]
    clock.set_ms(MINUTE_END_MS - 1)
    assert remaining(client.get(PETS)) == (0, 2)
    assert retry_after(client.get(PETS)) == 61
    clock.set_ms(MINUTE_END_MS)
    assert send(client) == [429]


def test_short_setback_resets_nothing_and_a_long_one_the_minute_alone(
    client: FlaskClient, clock: Clock
):
    assert send(client, 4) == [200, 200, 200, 429]
    clock.move(seconds=-9)
    assert send(client) == [429]
    clock.move(seconds=-300)
    assert send(client, 3) == [200, 200, 429]
    assert '"minute";r=1;t=59,' in client.get(PETS).headers["RateLimit"]


def test_setback_over_midnight_counts_in_the_later_day(
    client: FlaskClient, clock: Clock
):
    clock.set_ms(DAY_END_MS + 1)
    assert send(client, 3) == [200] * 3
    clock.set_ms(DAY_END_MS - 300_000)
    assert remaining(client.get(PETS)) == (2, 1)
    assert send(client, 2) == [200, 429]
    assert retry_after(client.get(PETS)) == 300 + 24 * 3600
    clock.set_ms(DAY_END_MS + 300_000)
    assert send(client) == [429]


def test_setback_by_more_than_a_day_begins_a_new_one(client: FlaskClient, clock: Clock):
    clock.set_ms(DAY_END_MS + 1)
    assert send(client, 3) == [200] * 3
    clock.move(days=-1.1)
    assert remaining(client.get(PETS)) == (2, 4)
