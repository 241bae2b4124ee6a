"""Tests for the rate-limit headers (specification section 8)."""

import pytest
from flask.testing import FlaskClient

from petstore import clock as service_clock
from petstore.models.pets import Pet
from petstore.models.projects import Plan, Project
from tests.clocks import NOON_MS, Clock
from tests.quotas.requests import PETS, ask

MINUTE_END = NOON_MS // 1000 + 50
DAY_END_MS = service_clock.instant_ms(2027, 3, 18)
DAY_END = DAY_END_MS // 1000
NAMES = [
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "RateLimit",
    "RateLimit-Policy",
]
REX = {"name": "Rex", "categoryId": 1}


def shown(headers) -> tuple[int, ...]:
    """Return X-RateLimit-Limit, -Remaining and -Reset."""
    return tuple(int(headers[name]) for name in NAMES[:3])


ANSWERS = [
    (200, "GET", PETS, {}),
    (200, "HEAD", PETS, {}),
    (201, "POST", PETS, {"json": REX}),
    (400, "POST", PETS, {"json": {}}),
    (400, "GET", f"{PETS}?limit=0", {}),
    (404, "GET", f"{PETS}/1", {}),
    (404, "GET", "/v1/nothing", {}),
    (404, "GET", "/v1", {}),
    (405, "DELETE", PETS, {}),
    (413, "POST", PETS, {"data": b" " * 65_537, "content_type": "application/json"}),
    (415, "POST", PETS, {"data": b"{}", "content_type": "text/plain"}),
]


@pytest.mark.parametrize(
    ("status", "method", "path", "options"),
    ANSWERS,
    ids=[f"{status} {method} {path}" for status, method, path, _ in ANSWERS],
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


def test_internal_server_error_shows_the_quota(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Pet, "page", None)
    answer = client.get(PETS)
    assert answer.status_code == 500
    assert shown(answer.headers) == (3, 2, MINUTE_END)


def test_429_shows_zero_remaining(client: FlaskClient):
    ask(client, 3)
    answer = client.get(PETS)
    assert answer.status_code == 429
    assert shown(answer.headers) == (3, 0, MINUTE_END)
    assert answer.headers["RateLimit"] == '"minute";r=0;t=50, "day";r=2;t=43190'


@pytest.mark.parametrize("path", [PETS, "/v1/nothing"])
def test_unauthenticated_response_shows_the_address_quota(
    stranger: FlaskClient, path: str
):
    answer = stranger.get(path)
    assert answer.status_code == 401
    assert shown(answer.headers) == (60, 59, MINUTE_END)
    assert answer.headers["RateLimit"] == '"minute";r=59;t=50, "day";r=999;t=43190'


def test_options_request_shows_the_quota_without_counting(
    stranger: FlaskClient,
):
    stranger.get(PETS)
    for _ in range(2):
        answer = stranger.options(PETS)
        assert shown(answer.headers) == (60, 59, MINUTE_END)
        assert set(NAMES) <= set(answer.headers.keys())


def test_options_request_in_a_new_minute_shows_the_full_limit(
    stranger: FlaskClient, clock: Clock
):
    stranger.get(PETS)
    clock.move(seconds=60)
    assert stranger.options(PETS).headers["RateLimit"] == (
        '"minute";r=60;t=50, "day";r=999;t=43130'
    )


def test_paths_outside_the_api_have_no_rate_limit_headers(client: FlaskClient):
    answer = client.get("/nothing")
    assert answer.status_code == 404
    assert not set(NAMES) & set(answer.headers.keys())


def test_ratelimit_headers_follow_the_draft(
    client: FlaskClient, project: Project, clock: Clock
):
    project.change_plan(Plan("free"))
    clock.set_ms(DAY_END_MS - 4_312_000)
    headers = client.get(PETS).headers
    assert headers["RateLimit-Policy"] == ('"minute";q=60;w=60, "day";q=1000;w=86400')
    assert headers["RateLimit"] == '"minute";r=59;t=52, "day";r=999;t=4312'


@pytest.mark.parametrize(
    ("per_minute", "per_day", "expected"),
    [
        (3, 5, (3, 2, MINUTE_END)),
        (5, 3, (3, 2, DAY_END)),
        (4, 4, (4, 3, DAY_END)),
    ],
)
def test_the_window_with_the_fewest_requests_left_is_shown(
    client: FlaskClient, project: Project, per_minute, per_day, expected
):
    project.change_plan(Plan("enterprise", per_minute, per_day))
    assert shown(client.get(PETS).headers) == expected


def test_the_day_is_shown_when_both_windows_are_equal(
    client: FlaskClient, clock: Clock
):
    ask(client, 2)
    clock.move(seconds=60)
    assert shown(client.get(PETS).headers) == (5, 2, DAY_END)
    clock.move(seconds=60)
    assert shown(client.get(PETS).headers) == (5, 1, DAY_END)


@pytest.mark.parametrize("used", [1, 3])
def test_remaining_is_not_negative_after_a_downgrade(
    client: FlaskClient, project: Project, used: int
):
    ask(client, used)
    project.change_plan(Plan("enterprise", 1, 10))
    answer = client.get(PETS)
    assert answer.status_code == 429
    assert shown(answer.headers) == (1, 0, MINUTE_END)


@pytest.mark.parametrize(("before_ms", "seconds"), [(1, 1), (1000, 1), (1001, 2)])
def test_reset_seconds_are_rounded_up(
    client: FlaskClient, clock: Clock, before_ms: int, seconds: int
):
    clock.set_ms(DAY_END_MS - before_ms)
    headers = client.get(PETS).headers
    assert headers["RateLimit"] == (f'"minute";r=2;t={seconds}, "day";r=4;t={seconds}')
    assert shown(headers) == (3, 2, DAY_END)
