"""Failed sign-ins are limited for each client address."""

import pytest
from flask import Flask

from petstore.models.credentials import new_key
from petstore.models.projects import Project
from tests.harness.browser import SIGN_IN, Browser, words
from tests.harness.clocks import Clock
from tests.harness.databases import of_both_engines
from tests.harness.statements import recorded

PER_MINUTE = 10


def fail(browser: Browser, times: int) -> list[int]:
    return [browser.sign_in(new_key()).status_code for _ in range(times)]


@of_both_engines
def test_eleventh_failure_within_a_minute_is_rate_limited(
    visitor: Browser, project: Project
):
    assert fail(visitor, PER_MINUTE + 1) == [401] * PER_MINUTE + [429]


def test_failures_of_an_address_do_not_refuse_a_key_that_works(
    visitor: Browser, key: str
):
    assert fail(visitor, PER_MINUTE + 1)[-1] == 429
    assert visitor.sign_in(key).status_code == 303


def test_wrong_key_gets_401_again_after_the_wait(
    visitor: Browser, project: Project, clock: Clock
):
    fail(visitor, PER_MINUTE)
    answer = visitor.sign_in(new_key())
    assert "wait 50 s" in words(answer)
    assert "You can try again from 17 Mar 2027 12:01 UTC on. Try again" in words(answer)
    assert f'href="{SIGN_IN}" data-wait-seconds="50"' in answer.text
    clock.move(seconds=int(answer.headers["Retry-After"]))
    assert visitor.sign_in(new_key()).status_code == 401


def test_after_a_hundred_failures_wrong_keys_are_refused_until_midnight(
    visitor: Browser, project: Project, clock: Clock
):
    for _ in range(10):
        fail(visitor, PER_MINUTE)
        clock.move(seconds=60)
    answer = visitor.sign_in(new_key())
    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) == 12 * 3600 - 610


def test_failures_beyond_the_limit_are_logged_as_requests_alone(
    visitor: Browser, project: Project, capfd: pytest.CaptureFixture
):
    fail(visitor, PER_MINUTE + 5)
    log = capfd.readouterr().out
    assert log.count('"event":"sign_in_failed"') == PER_MINUTE
    assert log.count('"status":429') == 5


def test_mistyped_key_beyond_the_limit_costs_no_statement_but_its_count(
    visitor: Browser, project: Project
):
    fail(visitor, PER_MINUTE)
    mistyped = new_key()[:-6] + "000000"
    with recorded() as statements:
        answer = visitor.submit(SIGN_IN, key=mistyped)
    assert answer.status_code == 429
    assert [statement.gist for statement in statements] == ["INSERT counter"]


def test_successful_sign_ins_are_not_counted(visitor: Browser, key: str):
    answers = [visitor.sign_in(key).status_code for _ in range(PER_MINUTE + 2)]
    assert set(answers) == {303}


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::2:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
    ],
)
def test_failures_are_counted_by_address_or_ipv6_network(
    app: Flask, project: Project, one: str, other: str, is_same: bool
):
    fail(Browser(app, address=one), PER_MINUTE)
    assert fail(Browser(app, address=other), 1) == [429 if is_same else 401]


def test_failures_do_not_count_against_the_api_quota(
    visitor: Browser, project: Project
):
    fail(visitor, PER_MINUTE + 1)
    assert visitor.get("/v1/pets").headers["X-RateLimit-Remaining"] == "59"
