"""Rate limits: pages for each session, and sign-ins for each project."""

import pytest
from flask import Flask

from petstore.quotas.quotas import PAGES, SIGN_INS
from tests.dashboard.browser import SIGN_IN, Browser, words
from tests.harness.clocks import Clock
from tests.harness.databases import of_both_engines

KEYS = "/dashboard/keys"


def statuses(browser: Browser, times: int) -> list[int]:
    return [browser.get(KEYS).status_code for _ in range(times)]


def test_defaults_allow_300_pages_and_60_sign_ins_a_minute():
    assert (PAGES.minute.amount, PAGES.day.amount) == (300, 20_000)
    assert (SIGN_INS.minute.amount, SIGN_INS.day.amount) == (60, 1_000)


@of_both_engines
@pytest.mark.usefixtures("few_pages")
def test_page_beyond_the_limit_is_refused_until_the_wait_is_over(
    app: Flask, browser: Browser, key: str, clock: Clock
):
    assert statuses(browser, 4) == [200, 200, 200, 429]
    answer = browser.get(KEYS)
    assert "You have asked for too many pages; wait 50 s." in words(answer)
    assert answer.headers["Retry-After"] == "50"
    assert statuses(Browser(app, key), 1) == [200]  # another session of the key
    clock.move(seconds=50)
    assert statuses(browser, 1) == [200]


@pytest.mark.usefixtures("few_pages")
def test_form_counts_as_a_page(browser: Browser):
    browser.post(KEYS, csrf_token="x")
    assert statuses(browser, 3) == [200, 200, 429]
    assert browser.post(KEYS, csrf_token="x").status_code == 429


@pytest.mark.usefixtures("few_pages")
def test_sign_out_works_beyond_the_page_limit(browser: Browser):
    statuses(browser, 4)
    answer = browser.submit("/dashboard/sign-out", on=SIGN_IN)
    assert answer.location == SIGN_IN


def test_sign_ins_of_a_project_are_limited(visitor: Browser, key: str):
    answers = [visitor.sign_in(key) for _ in range(61)]
    assert [answer.status_code for answer in answers] == 60 * [303] + [429]
    assert "Too many people have signed in" in words(answers[-1])
