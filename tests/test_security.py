"""SECURITY.md and the page for operators: their figures match the code."""

import re

import pytest

from petstore import events
from petstore.clock import MS_PER_DAY, MS_PER_MINUTE
from petstore.models import requests, stored_responses
from petstore.models.domains import MAX_DOMAINS
from petstore.models.keys import KEEP_ENDED_MS, MAX_WORKING_KEYS
from petstore.models.plans import Quota
from petstore.models.sessions import IDLE_MS, LASTS_MS
from petstore.quotas.housekeeping import TABLES
from petstore.quotas.limiter import FAILED_SIGN_INS, PAGES, RESERVE, SIGN_INS
from petstore.settings import MIN_SECRET_LENGTH
from tests.harness.servers import ROOT

SECURITY = (ROOT / "SECURITY.md").read_text()
README = (ROOT / "README.md").read_text()
OPERATING = (ROOT / "docs" / "operating.md").read_text()


@pytest.mark.parametrize("page", [SECURITY, OPERATING], ids=["SECURITY", "operating"])
def test_figures_match_the_code(page: str):
    told = " ".join(page.split())
    minute, day = PAGES.per_minute, PAGES.per_day
    assert re.search(f"{minute} (pages )?a minute(,| and) {day:,} a day", told)
    assert f"{MIN_SECRET_LENGTH} characters" in told
    assert MAX_DOMAINS == MAX_WORKING_KEYS == 100
    assert re.search("keys \\(100\\)|100 keys", told)


@pytest.mark.parametrize("quota", [PAGES, SIGN_INS, RESERVE, FAILED_SIGN_INS])
def test_limits_of_the_dashboard_match_the_code(quota: Quota):
    minute, day = quota.per_minute, quota.per_day
    told = " ".join(OPERATING.split())
    assert re.search(f"{minute}( \\w+)? a minute and {day:,}( \\w+)? a day", told)


def test_lifetimes_of_sessions_match_the_code():
    assert (IDLE_MS, LASTS_MS) == (60 * MS_PER_MINUTE, 12 * 60 * MS_PER_MINUTE)
    told = " ".join(OPERATING.split())
    assert "an hour without a request" in told
    assert "after twelve hours in any case" in told


def test_data_is_kept_as_long_as_the_page_says():
    told = " ".join(SECURITY.split())
    for words, kept_ms in {
        "Idempotency-Key contain them for 24 hours": stored_responses.KEPT_MS,
        "failed requests (a day)": requests.FAILURES_KEPT_MS,
        "activity (90 days)": events.KEPT_MS / 90,
        "ended keys (30 days)": KEEP_ENDED_MS / 30,
        "in the counters until the end of the next day": TABLES[-1].kept,
    }.items():
        assert words in told
        assert kept_ms == MS_PER_DAY, words


def test_readme_links_to_security_md():
    assert "(SECURITY.md)" in README
