"""Tests for the two windows of a quota (specification section 8)."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from petstore import clock as service_clock
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from tests.clocks import NOON_MS, Clock
from tests.quotas.requests import PETS, ask, remaining

MINUTE_END_MS = NOON_MS + 50_000
DAY_END_MS = service_clock.instant_ms(2027, 3, 18)


def test_a_minute_ends_with_the_utc_minute(client: FlaskClient, clock: Clock):
    assert ask(client, 4) == [200, 200, 200, 429]
    clock.set_ms(MINUTE_END_MS - 1)
    assert ask(client) == [429]
    clock.set_ms(MINUTE_END_MS)
    assert ask(client) == [200]


def test_a_day_ends_with_the_utc_day(client: FlaskClient, clock: Clock):
    assert ask(client, 3) == [200] * 3
    clock.move(seconds=60)
    assert ask(client, 3) == [200, 200, 429]
    clock.set_ms(DAY_END_MS - 1)
    assert ask(client) == [429]
    clock.set_ms(DAY_END_MS)
    assert ask(client, 4) == [200, 200, 200, 429]


def test_the_day_count_includes_earlier_minutes(client: FlaskClient, clock: Clock):
    left = []
    for _ in range(4):
        left.append(remaining(client.get(PETS)))
        clock.move(seconds=3600)
    assert left == [(2, 4), (2, 3), (2, 2), (2, 1)]


def test_refusals_by_the_minute_do_not_count_against_the_day(
    client: FlaskClient, clock: Clock
):
    assert ask(client, 10) == [200] * 3 + [429] * 7
    clock.move(seconds=60)
    assert remaining(client.get(PETS)) == (2, 1)


def test_refusals_by_the_day_do_not_count_against_the_minute(
    client: FlaskClient, clock: Clock
):
    ask(client, 3)
    clock.move(seconds=60)
    assert ask(client, 10) == [200] * 2 + [429] * 8
    assert remaining(client.get(PETS)) == (1, 0)


@pytest.mark.parametrize(
    ("plan", "per_minute", "per_day"),
    [("free", 60, 1_000), ("pro", 300, 10_000), ("business", 1_000, 100_000)],
)
def test_plan_limits_match_the_specification(
    client: FlaskClient, project: Project, plan: str, per_minute: int, per_day: int
):
    project.change_plan(Plan(plan))
    assert remaining(client.get(PETS)) == (per_minute - 1, per_day - 1)


def test_free_plan_serves_sixty_requests_a_minute(
    client: FlaskClient, project: Project
):
    project.change_plan(Plan("free"))
    assert ask(client, 61) == [200] * 60 + [429]


def test_enterprise_plan_has_custom_limits(client: FlaskClient, project: Project):
    project.change_plan(Plan("enterprise", 7_000_000_000, 10**12))
    assert remaining(client.get(PETS)) == (6_999_999_999, 10**12 - 1)


def test_upgrade_keeps_the_counts(client: FlaskClient, project: Project):
    assert ask(client, 4) == [200, 200, 200, 429]
    project.change_plan(Plan("enterprise", 5, 100))
    assert remaining(client.get(PETS)) == (1, 96)
    assert ask(client, 2) == [200, 429]


def test_downgrade_applies_to_the_next_request(client: FlaskClient, project: Project):
    assert ask(client, 2) == [200, 200]
    project.change_plan(Plan("enterprise", 1, 5))
    answer = client.get(PETS)
    assert answer.status_code == 429
    assert remaining(answer) == (0, 3)


def test_the_keys_of_a_project_share_its_quota(
    client: FlaskClient,
    client_of: Callable[[str], FlaskClient],
    project: Project,
):
    other = client_of(Key.issue(project))
    assert ask(client, 2) == [200, 200]
    assert ask(other, 2) == [200, 429]
    assert ask(client) == [429]


def test_each_project_has_its_own_quota(client: FlaskClient, rival_client: FlaskClient):
    ask(client, 4)
    assert remaining(rival_client.get(PETS)) == (999, 99_999)


def test_a_head_request_counts_like_a_get(client: FlaskClient):
    assert remaining(client.head(PETS)) == (2, 4)
    assert remaining(client.get(PETS)) == (1, 3)


def test_options_requests_are_neither_counted_nor_refused(client: FlaskClient):
    assert all(client.options(PETS).status_code == 204 for _ in range(9))
    assert ask(client, 4) == [200, 200, 200, 429]
    assert client.options(PETS).status_code == 204


def test_failed_requests_are_counted(client: FlaskClient):
    assert client.get(f"{PETS}/1").status_code == 404
    assert client.post(PETS, json={}).status_code == 400
    assert remaining(client.get(PETS)) == (0, 2)


def test_refused_request_has_no_effect(client: FlaskClient, clock: Clock):
    rex = {"name": "Rex", "categoryId": 1}
    statuses = [client.post(PETS, json=rex).status_code for _ in range(4)]
    assert statuses == [201, 201, 201, 429]
    clock.move(seconds=60)
    assert len(client.get(PETS).json) == 3
