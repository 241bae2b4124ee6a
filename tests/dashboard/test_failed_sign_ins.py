"""Failed sign-ins are limited for each client address."""

import pytest
from flask import Flask

from petstore.models.credentials import new_key
from petstore.models.projects import Project
from tests.dashboard.browser import Browser, words
from tests.harness.clocks import Clock
from tests.harness.databases import of_both_engines

PER_MINUTE = 10


def fail(browser: Browser, times: int) -> list[int]:
    return [browser.sign_in(new_key()).status_code for _ in range(times)]


@of_both_engines
def test_eleventh_failure_within_a_minute_is_rate_limited(
    visitor: Browser, project: Project
):
    assert fail(visitor, PER_MINUTE + 1) == [401] * PER_MINUTE + [429]


def test_valid_key_is_accepted_only_after_the_wait(
    visitor: Browser, key: str, clock: Clock
):
    fail(visitor, PER_MINUTE)
    answer = visitor.sign_in(key)
    assert answer.status_code == 429
    assert "wait 50 s" in words(answer)
    clock.move(seconds=int(answer.headers["Retry-After"]))
    assert visitor.sign_in(key).status_code == 303


def test_hundred_failures_block_sign_in_until_midnight(
    visitor: Browser, key: str, clock: Clock
):
    for _ in range(10):
        fail(visitor, PER_MINUTE)
        clock.move(seconds=60)
    answer = visitor.sign_in(key)
    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) == 12 * 3600 - 610


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
    app: Flask, key: str, one: str, other: str, is_same: bool
):
    fail(Browser(app, address=one), PER_MINUTE)
    assert (Browser(app, address=other).sign_in(key).status_code == 429) is is_same


def test_failures_do_not_count_against_the_api_quota(
    visitor: Browser, project: Project
):
    fail(visitor, PER_MINUTE + 1)
    assert visitor.get("/v1/pets").headers["X-RateLimit-Remaining"] == "59"
