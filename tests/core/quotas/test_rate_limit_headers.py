"""Tests for the rate-limit headers and Retry-After (specification section 8)."""

import pytest
from flask.testing import FlaskClient

from petstore.models.projects import Plan, Project
from tests.core.quotas.requests import DAY_END_MS, PETS, on_one_store, retry_after, send
from tests.harness.clocks import START_MS, Clock

pytestmark = on_one_store
MINUTE_MS = START_MS - 10_000  # the start of a minute
MINUTE_END = START_MS // 1000 + 50
DAY_END = DAY_END_MS // 1000
NAMES = [
    *("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"),
    *("RateLimit", "RateLimit-Policy"),
]
LARGE = {"data": b" " * 65_537, "content_type": "application/json"}


def shown(headers) -> tuple[int, ...]:
    """Return X-RateLimit-Limit, -Remaining and -Reset."""
    return tuple(int(headers[name]) for name in NAMES[:3])


@pytest.mark.parametrize(
    ("status", "method", "path", "options"),
    [
        (200, "GET", PETS, {}),
        (200, "HEAD", PETS, {}),
        (201, "POST", PETS, {"json": {"name": "Rex", "categoryId": 1}}),
        (400, "GET", f"{PETS}?limit=0", {}),
        (404, "GET", f"{PETS}/1", {}),
        (404, "GET", "/v1/nothing", {}),
        (405, "DELETE", PETS, {}),
        (413, "POST", PETS, LARGE),
        (415, "POST", PETS, {"data": b"{}", "content_type": "text/plain"}),
    ],
)
def test_every_authenticated_response_shows_the_project_quota(
    client: FlaskClient, status: int, method: str, path: str, options: dict
):
    answer = client.open(path, method=method, **options)
    assert answer.status_code == status
    assert [answer.headers.getlist(name) for name in NAMES] == [
        ["3"],
        ["2"],
        [str(MINUTE_END)],
        ['"minute";r=2;t=50, "day";r=4;t=43190'],
        ['"minute";q=3;w=60, "day";q=5;w=86400'],
    ]
    assert "Retry-After" not in answer.headers


def test_429_shows_zero_remaining(client: FlaskClient):
    send(client, 3)
    answer = client.get(PETS)
    assert shown(answer.headers) == (3, 0, MINUTE_END)
    assert answer.headers["RateLimit"] == '"minute";r=0;t=50, "day";r=2;t=43190'
    assert answer.json == {
        "code": "rate_limit_exceeded",
        "message": "Enterprise allows 3 requests a minute; wait 50 seconds.",
        "status": 429,
    }


@pytest.mark.parametrize(
    ("per_minute", "per_day", "expected"),
    [(5, 3, (3, 2, DAY_END)), (4, 4, (4, 3, DAY_END))],
)
def test_the_window_with_the_fewest_requests_left_is_shown(
    client: FlaskClient, project: Project, per_minute, per_day, expected
):
    project.change_plan(Plan("enterprise", per_minute, per_day))
    assert shown(client.get(PETS).headers) == expected


@pytest.mark.parametrize(
    ("now_ms", "seconds"),
    [
        (MINUTE_MS, 60),
        (MINUTE_MS + 999, 60),
        (MINUTE_MS + 1000, 59),
        (MINUTE_MS + 59_999, 1),
        (DAY_END_MS - 1, 1),
    ],
)
def test_seconds_until_the_end_of_the_minute_are_rounded_up(
    client: FlaskClient, clock: Clock, now_ms: int, seconds: int
):
    clock.set_ms(now_ms)
    assert f'"minute";r=2;t={seconds},' in client.get(PETS).headers["RateLimit"]
    send(client, 2)
    assert retry_after(client.get(PETS)) == seconds
    clock.move(seconds=seconds)
    assert send(client) == [200]


@pytest.mark.parametrize("per_minute", [9, 2])
@pytest.mark.parametrize(
    ("before_ms", "wait"),
    [(1, "1 second"), (1001, "2 seconds"), (86_400_000, "86,400 seconds")],
)
def test_retry_after_lasts_until_the_end_of_the_day(
    client: FlaskClient,
    project: Project,
    clock: Clock,
    before_ms: int,
    wait: str,
    per_minute: int,
):
    project.change_plan(Plan("enterprise", per_minute, 2))
    clock.set_ms(DAY_END_MS - before_ms)
    send(client, 2)
    refused = client.get(PETS)
    expected = f"Enterprise allows 2 requests a day; wait {wait}."
    assert refused.json["message"] == expected
    assert retry_after(refused) == -(-before_ms // 1000)
    clock.move(seconds=retry_after(refused))
    assert send(client, 2) == [200, 200]
