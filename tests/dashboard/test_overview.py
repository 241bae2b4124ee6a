"""The overview: the plan, both quotas and 30 days of requests."""

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient

from petstore.dashboard.chart import Chart
from petstore.models.projects import Plan, Project
from petstore.quotas.windows import Day
from tests.clocks import Clock
from tests.dashboard.browser import Browser, words

DAY_ROW = re.compile(r'row">([^<]+)</th><td class="number">(\S+?)</td>.*?>(\S+?)</td>')


@pytest.fixture
def project(app: Flask) -> Project:
    """A project with 3 requests a minute and 8 a day."""
    return Project.add("Shelter", None, Plan("enterprise", 3, 8))


def call(client: FlaskClient, times: int) -> None:
    for _ in range(times):
        client.get("/v1/pets")


def test_overview_shows_the_plan_and_both_quotas(client: FlaskClient, browser: Browser):
    call(client, 2)
    shown = words(browser.get("/dashboard"))
    assert "Plan Enterprise" in shown
    assert "2 of 3 requests 1 left · resets in 50 s" in shown
    assert "2 of 8 requests 6 left · resets at 00:00 UTC, in 11 h 59 min" in shown


def test_example_request_is_shown_until_an_animal_exists(
    client: FlaskClient, browser: Browser
):
    shown = words(browser.get("/dashboard"))
    assert "curl http://localhost/v1/pets -H 'Authorization: Bearer YOUR_KEY'" in shown
    client.post("/v1/pets", json={"name": "Rex", "categoryId": 7})
    assert "curl" not in words(browser.get("/dashboard"))


def test_animals_of_other_projects_do_not_hide_the_example(
    rival_client: FlaskClient, browser: Browser
):
    rival_client.post("/v1/pets", json={"name": "Rex", "categoryId": 7})
    assert "curl" in words(browser.get("/dashboard"))


def test_viewing_does_not_use_up_the_quota(client: FlaskClient, browser: Browser):
    for _ in range(5):
        browser.get("/dashboard")
    assert client.get("/v1/pets").headers["X-RateLimit-Remaining"] == "2"


def test_table_lists_served_and_refused_requests_by_day(
    client: FlaskClient, visitor: Browser, key: str, clock: Clock
):
    call(client, 5)
    clock.move(days=1)
    call(client, 1)
    visitor.sign_in(key)
    rows = DAY_ROW.findall(visitor.get("/dashboard").text)
    assert rows[:3] == [
        ("18 Mar", "1", "0"),
        ("17 Mar", "3", "2"),
        ("16 Mar", "0", "0"),
    ]
    assert len(rows) == 30


def test_requests_are_shown_for_thirty_days(
    client: FlaskClient, visitor: Browser, key: str, clock: Clock
):
    call(client, 1)
    for days, shown in ((29, "Served 1 "), (1, "Served 0 ")):
        clock.move(days=days)
        visitor.sign_in(key)
        assert shown in words(visitor.get("/dashboard"))


def test_requests_of_other_projects_are_not_shown(
    rival_client: FlaskClient, browser: Browser
):
    call(rival_client, 2)
    assert "Served 0 Refused 0" in words(browser.get("/dashboard"))


def test_exhausted_daily_quota_is_shown(
    client: FlaskClient, browser: Browser, clock: Clock
):
    for _ in range(3):
        call(client, 3)
        clock.move(seconds=60)
    assert "Today's requests are used up" in words(browser.get("/dashboard"))


@pytest.mark.parametrize(
    ("served", "refused", "top"),
    [
        (0, 0, 10),
        (7, 3, 10),
        (7, 4, 16),
        (10_000, 2_210, 16_000),
        (10**12, 1, 16 * 10**11),
    ],
)
def test_chart_scale_fits_the_highest_day(served: int, refused: int, top: int):
    [bar] = Chart.of([Day(20_000, served, refused)]).bars
    assert Chart.of([bar.day]).top == top
    assert bar.served == pytest.approx(served / top * 100, abs=0.01)


def test_bar_title_shows_the_counts(client: FlaskClient, browser: Browser):
    call(client, 4)
    assert (
        "<title>17 Mar: 3 served, 1 refused</title>" in browser.get("/dashboard").text
    )
