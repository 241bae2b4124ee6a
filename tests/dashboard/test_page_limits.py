"""Rate limits: pages and sign-ins for each project, and a reserve for each key."""

from collections.abc import Callable

import pytest
from flask import Flask

from petstore.models.keys import Key
from petstore.models.projects import Project
from petstore.quotas.limiter import PAGES, RESERVE, SIGN_INS
from tests.harness.browser import SIGN_IN, Browser, words
from tests.harness.clocks import Clock
from tests.harness.databases import of_both_engines

OVERVIEW = "/dashboard"
KEYS = "/dashboard/keys"
SignIns = Callable[[str, int], list[int]]


def statuses(browser: Browser, times: int, page: str = OVERVIEW) -> list[int]:
    return [browser.get(page).status_code for _ in range(times)]


@pytest.fixture
def leaked(project: Project) -> str:
    """A key of the project that somebody else has, too."""
    return Key.issue(project, label="Leaked")


@pytest.fixture
def sign_ins(app: Flask) -> SignIns:
    """A function that signs in with a key so many times."""

    def sign_ins(key: str, times: int) -> list[int]:
        browser = Browser(app)
        return [browser.sign_in(key).status_code for _ in range(times)]

    return sign_ins


def test_limits_of_a_project_and_of_the_reserve_of_a_key():
    limits = [(each.per_minute, each.per_day) for each in (PAGES, SIGN_INS, RESERVE)]
    assert limits == [(120, 5_000), (60, 1_000), (20, 60)]


@of_both_engines
@pytest.mark.usefixtures("few_pages")
def test_page_beyond_the_limit_is_refused_until_the_wait_is_over(
    browser: Browser, clock: Clock
):
    assert statuses(browser, 4) == [200, 200, 200, 429]
    answer = browser.get(OVERVIEW)
    assert "too many pages (Keys still opens); wait 50 s." in words(answer)
    assert answer.headers["Retry-After"] == "50"
    clock.move(seconds=50)
    assert statuses(browser, 1) == [200]


@pytest.mark.usefixtures("few_pages")
def test_sessions_and_keys_of_a_project_share_its_pages(
    app: Flask, key: str, leaked: str, rival: Project
):
    browsers = [Browser(app, each) for each in (key, key, leaked, leaked)]
    assert [statuses(browser, 1) for browser in browsers] == [[200]] * 3 + [[429]]
    assert statuses(Browser(app, Key.issue(rival)), 1) == [200]


@pytest.mark.usefixtures("few_pages")
def test_form_counts_as_a_page(browser: Browser):
    page = "/dashboard/animals"
    browser.submit(page)
    assert statuses(browser, 3) == [200, 200, 429]
    assert browser.submit(page).status_code == 429


@of_both_engines
@pytest.mark.usefixtures("few_pages")
def test_leaked_key_can_be_revoked_after_it_has_used_up_the_pages(
    app: Flask, key: str, leaked: str
):
    thief = Browser(app, leaked)
    assert statuses(thief, 4)[-1] == 429
    assert set(statuses(thief, RESERVE.per_minute + 1, KEYS)) == {200, 429}
    owner, page = Browser(app, key), f"{KEYS}/{leaked[:16]}"
    refused = owner.get(OVERVIEW)
    assert (refused.status_code, f'href="{KEYS}"' in refused.text) == (429, True)
    assert leaked[:16] in owner.read(KEYS)
    assert "is revoked" in owner.follow(f"{page}/revoke")
    assert thief.get(KEYS).status_code == 303


@pytest.mark.usefixtures("few_pages")
def test_key_pages_are_refused_when_pages_and_reserve_are_used_up(
    browser: Browser, clock: Clock
):
    granted = 3 + RESERVE.per_minute
    assert statuses(browser, granted + 1, KEYS) == [200] * granted + [429]
    clock.move(seconds=int(browser.get(KEYS).headers["Retry-After"]))
    assert statuses(browser, 1, KEYS) == [200]


def test_wait_ends_with_the_first_of_pages_and_reserve(browser: Browser, clock: Clock):
    per_minute = PAGES.per_minute + RESERVE.per_minute
    for _ in range(RESERVE.per_day // RESERVE.per_minute):
        assert statuses(browser, per_minute + 1, KEYS)[-1] == 429
        clock.move(seconds=60)
    assert statuses(browser, PAGES.per_minute + 1, KEYS)[-1] == 429
    assert browser.get(KEYS).headers["Retry-After"] == "50"


@pytest.mark.usefixtures("few_pages")
def test_sign_out_works_beyond_the_page_limit(browser: Browser):
    statuses(browser, 4)
    answer = browser.submit(f"{OVERVIEW}/sign-out")
    assert answer.location == SIGN_IN


@of_both_engines
def test_sign_ins_with_a_leaked_key_do_not_refuse_another_one(
    sign_ins: SignIns, key: str, leaked: str
):
    allowed = SIGN_INS.per_minute + RESERVE.per_minute
    assert sign_ins(leaked, allowed + 1) == [303] * allowed + [429]
    assert sign_ins(key, 5) == [303] * 5


def test_refused_sign_in_says_why(visitor: Browser, key: str, sign_ins: SignIns):
    sign_ins(key, SIGN_INS.per_minute + RESERVE.per_minute)
    answer = visitor.sign_in(key)
    assert "Too many people have signed in to your project" in words(answer)
    assert answer.headers["Retry-After"] == "50"
