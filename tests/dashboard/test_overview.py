"""The overview: the plan, both quotas and 30 days of requests."""

import re
from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient

from petstore.dashboard.overview import scale_end
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.models.requests import uses
from tests.harness.browser import Browser, words
from tests.harness.clocks import Clock
from tests.harness.databases import of_both_engines

DAY_ROW = re.compile(r'row">([^<]+)</th><td class="number">(\S+?)</td>.*?>(\S+?)</td>')


@pytest.fixture
def project(app: Flask) -> Project:
    """A project with 3 requests a minute and 8 a day."""
    return Project.add("Shelter", None, Plan("enterprise", 3, 8))


def call(client: FlaskClient, times: int) -> None:
    for _ in range(times):
        client.get("/v1/pets")
    uses.flush()


def test_overview_shows_the_plan_and_both_quotas(client: FlaskClient, browser: Browser):
    call(client, 2)
    shown = browser.read("/dashboard")
    assert "Plan Enterprise" in shown
    assert "2 of 3 requests 1 left · resets in 50 s" in shown
    assert "2 of 8 requests 6 left · resets at 00:00 UTC, in 11 h 59 min" in shown


def test_form_and_example_are_shown_until_there_is_an_animal_and_then_the_shelter(
    rival_client: FlaskClient, browser: Browser
):
    rival_client.post("/v1/pets", json={"name": "Rex", "categoryId": 7})
    shown = browser.read("/dashboard")
    assert "curl http://localhost/v1/pets -H 'Authorization: Bearer YOUR_KEY'" in shown
    rex = {"name": "Rex", "categoryId": "Dogs"}
    said = browser.follow("/dashboard/animals", **rex)
    assert "Rex is added, with the id 2." in said
    browser.submit("/dashboard/animals/2/order")
    shown = browser.get("/dashboard")
    assert "curl" not in shown.text
    assert 'action="/dashboard/animals"' not in shown.text
    assert (
        "The shelter now 0 available 1 pending 0 sold 1 open order Added last "
        "Rex Dogs Pending Plan Enterprise"
    ) in words(shown)


def test_domains_are_not_offered_without_a_base_domain(browser: Browser):
    page = browser.read("/dashboard/settings/domains")
    assert "Domains of your own are not offered here" in page
    assert "PETSTORE" not in page
    added = browser.submit("/dashboard/settings/domains", name="shop.example.org")
    assert added.status_code == 404


@of_both_engines
def test_viewing_does_not_use_up_the_quota(client: FlaskClient, browser: Browser):
    for _ in range(5):
        browser.get("/dashboard")
    assert client.get("/v1/pets").headers["X-RateLimit-Remaining"] == "2"


@of_both_engines
def test_table_lists_served_and_refused_requests_by_day(
    client: FlaskClient, visitor: Browser, key: str, clock: Clock
):
    call(client, 5)
    clock.move(days=1)
    call(client, 1)
    visitor.sign_in(key)
    page = visitor.get("/dashboard").text
    assert "<title>17 Mar: 3 served, 2 refused</title>" in page
    rows = DAY_ROW.findall(page)
    assert rows[:3] == [
        ("18 Mar", "1", "0"),
        ("17 Mar", "3", "2"),
        ("16 Mar", "0", "0"),
    ]
    assert len(rows) == 30


@pytest.mark.parametrize(
    ("highest", "top"),
    [(0, 10), (10, 10), (11, 16), (12_210, 16_000), (10**12 + 1, 16 * 10**11)],
)
def test_chart_scale_fits_the_highest_day(highest: int, top: int):
    assert scale_end(highest) == top


def test_used_up_minute_is_named_with_its_end_and_the_other_plans(
    app: Flask, client_of: Callable[[str], FlaskClient]
):
    key = Key.issue(Project.add("Small", None, Plan("free")))
    call(client_of(key), 61)
    shown = Browser(app, key).read("/dashboard")
    assert (
        "The requests of this minute are used up Free allows 60 requests a minute. "
        "Further ones are answered with 429 for 50 s. Pro allows 300 a minute. "
        "Business allows 1,000 a minute. See the plans . "
        "Whoever runs this service can change the plan."
    ) in shown


def test_used_up_day_is_named_before_the_minute(
    client: FlaskClient, browser: Browser, clock: Clock
):
    for _ in range(3):
        call(client, 3)
        clock.move(seconds=60)
    shown = browser.read("/dashboard")
    assert "Today's requests are used up Enterprise allows 8 requests a day." in shown
    assert "429 until 00:00 UTC, for 11 h 56 min. Free allows 1,000 a day." in shown
    assert "this minute are used up" not in shown


def test_table_of_plans_marks_the_own_one(browser: Browser):
    shown = browser.read("/dashboard")
    assert "Free 60 1,000 10,000 no Pro 300 10,000 100,000 yes" in shown
    assert "Business 1,000 100,000 1,000,000 yes" in shown
    assert "Enterprise Your plan 3 8 any number yes" in shown
    assert "Whoever runs this service can change the plan." in shown


@pytest.mark.parametrize(
    ("contact", "href"),
    [
        ("sales@example.org", "mailto:sales@example.org"),
        ("https://example.org/plans?a=1&b", "https://example.org/plans?a=1&amp;b"),
    ],
)
def test_contact_is_named_where_plans_are(
    environ: dict[str, str], request: pytest.FixtureRequest, contact: str, href: str
):
    environ["PETSTORE_CONTACT"] = contact
    page = request.getfixturevalue("browser").get("/dashboard")
    assert f'<a href="{href}">' in page.text
    assert f"For another plan, contact {contact} ." in words(page)
