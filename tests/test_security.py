"""SECURITY.md: the tests that it cites exist, and its figures match the code."""

import re

import pytest

from petstore.models.domains import MAX_DOMAINS
from petstore.models.keys import MAX_WORKING_KEYS
from petstore.quotas.allowances import FAILED_SIGN_INS, PAGES, RESERVE, SIGN_INS, Quota
from petstore.settings.numbers import MIN_SECRET_LENGTH
from tests.harness.servers import ROOT

SECURITY = (ROOT / "SECURITY.md").read_text()
README = (ROOT / "README.md").read_text()
OPERATING = (ROOT / "docs" / "operating.md").read_text()
TESTS = set(re.findall("`(tests/[a-z_/]+\\.py)`", SECURITY))
THREATS = re.findall("^\\| (API[0-9]+) .* \\|(.*)\\|$", SECURITY, re.MULTILINE)


def test_cited_test_files_exist():
    for name in TESTS:
        assert "def test_" in (ROOT / name).read_text(), name


def test_each_owasp_risk_cites_a_test():
    assert [name for name, _ in THREATS] == [f"API{n}" for n in range(1, 11)]
    assert all("`tests/" in shown for _, shown in THREATS)


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
    minute, day = quota
    told = " ".join(OPERATING.split())
    assert re.search(f"{minute}( \\w+)? a minute and {day:,}( \\w+)? a day", told)


def test_readme_links_to_security_md():
    assert "(SECURITY.md)" in README
