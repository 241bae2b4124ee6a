"""What people may ask of the pages is limited for each session (README)."""

import pytest
from flask import Flask

from petstore.models.projects import Project
from petstore.quotas import limiter
from petstore.quotas.plans import PAGES, SIGN_INS, Quota
from tests.clocks import Clock
from tests.dashboard.browser import Browser, words


@pytest.fixture
def few_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three pages a minute, in the place of hundreds."""
    monkeypatch.setattr(limiter, "PAGES", Quota.of(3, 100))


def statuses(browser: Browser, times: int) -> list[int]:
    return [browser.get("/dashboard/animals").status_code for _ in range(times)]


def test_the_limits_are_generous():
    assert (PAGES.minute.amount, PAGES.day.amount) == (300, 20_000)
    assert (SIGN_INS.minute.amount, SIGN_INS.day.amount) == (60, 1_000)


@pytest.mark.usefixtures("few_pages")
def test_too_many_pages_are_refused_in_plain_words(browser: Browser):
    assert statuses(browser, 4) == [200, 200, 200, 429]
    answer = browser.get("/dashboard/keys")
    assert "You have asked for too many pages; wait 50 s." in words(answer)
    assert answer.headers["Retry-After"] == "50"


@pytest.mark.usefixtures("few_pages")
def test_who_waits_is_served(browser: Browser, clock: Clock):
    statuses(browser, 4)
    clock.move(seconds=50)
    assert statuses(browser, 1) == [200]


@pytest.mark.usefixtures("few_pages")
def test_forms_count_too_and_do_nothing_beyond_the_limit(
    browser: Browser, project: Project
):
    statuses(browser, 3)
    assert browser.post("/dashboard/keys", csrf_token="x").status_code == 429


@pytest.mark.usefixtures("few_pages")
def test_another_session_has_its_own(app: Flask, browser: Browser, key: str):
    statuses(browser, 4)
    colleague = Browser(app)
    colleague.sign_in(key)
    assert statuses(colleague, 1) == [200]


@pytest.mark.usefixtures("few_pages")
def test_whoever_has_used_them_up_can_still_sign_out(browser: Browser):
    statuses(browser, 4)
    answer = browser.submit("/dashboard/sign-out", on="/dashboard/sign-in")
    assert answer.location == "/dashboard/sign-in"


def test_signing_in_again_and_again_is_limited_for_a_project(
    app: Flask, visitor: Browser, key: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(limiter, "SIGN_INS", Quota.of(2, 100))
    answers = [visitor.sign_in(key) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [303, 303, 429]
    assert "Too many people have signed in" in words(answers[-1])


def test_pages_take_nothing_from_the_quota_of_the_project(browser: Browser):
    statuses(browser, 3)
    assert "0 of 1,000 requests" in words(browser.get("/dashboard"))
