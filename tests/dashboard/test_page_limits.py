"""Rate limits: pages for each session, and sign-ins for each project."""

import pytest
from flask import Flask

from petstore.quotas import limiter
from petstore.quotas.plans import PAGES, SIGN_INS, Quota
from tests.clocks import Clock
from tests.dashboard.browser import Browser, words


@pytest.fixture
def few_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit of three pages a minute instead of 300."""
    monkeypatch.setattr(limiter, "PAGES", Quota.of(3, 100))


def statuses(browser: Browser, times: int) -> list[int]:
    return [browser.get("/dashboard/animals").status_code for _ in range(times)]


def test_defaults_allow_300_pages_and_60_sign_ins_a_minute():
    assert (PAGES.minute.amount, PAGES.day.amount) == (300, 20_000)
    assert (SIGN_INS.minute.amount, SIGN_INS.day.amount) == (60, 1_000)


@pytest.mark.usefixtures("few_pages")
def test_exceeding_the_page_limit_gets_429_and_retry_after(browser: Browser):
    assert statuses(browser, 4) == [200, 200, 200, 429]
    answer = browser.get("/dashboard/keys")
    assert "You have asked for too many pages; wait 50 s." in words(answer)
    assert answer.headers["Retry-After"] == "50"


@pytest.mark.usefixtures("few_pages")
def test_pages_are_served_again_after_the_wait(browser: Browser, clock: Clock):
    statuses(browser, 4)
    clock.move(seconds=50)
    assert statuses(browser, 1) == [200]


@pytest.mark.usefixtures("few_pages")
def test_form_beyond_the_page_limit_is_refused(browser: Browser):
    statuses(browser, 3)
    assert browser.post("/dashboard/keys", csrf_token="x").status_code == 429


@pytest.mark.usefixtures("few_pages")
def test_form_counts_against_the_page_limit(browser: Browser):
    browser.post("/dashboard/keys", csrf_token="x")
    assert statuses(browser, 3) == [200, 200, 429]


@pytest.mark.usefixtures("few_pages")
def test_each_session_has_its_own_limit(app: Flask, browser: Browser, key: str):
    statuses(browser, 4)
    colleague = Browser(app)
    colleague.sign_in(key)
    assert statuses(colleague, 1) == [200]


@pytest.mark.usefixtures("few_pages")
def test_sign_out_works_beyond_the_page_limit(browser: Browser):
    statuses(browser, 4)
    answer = browser.submit("/dashboard/sign-out", on="/dashboard/sign-in")
    assert answer.location == "/dashboard/sign-in"


def test_sign_ins_of_a_project_are_limited(
    app: Flask, visitor: Browser, key: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(limiter, "SIGN_INS", Quota.of(2, 100))
    answers = [visitor.sign_in(key) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [303, 303, 429]
    assert "Too many people have signed in" in words(answers[-1])


def test_pages_do_not_count_against_the_project_quota(browser: Browser):
    statuses(browser, 3)
    assert "0 of 1,000 requests" in words(browser.get("/dashboard"))
