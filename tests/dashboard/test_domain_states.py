"""How pages show domains after a downgrade, a takeover or a change in DNS."""

import pytest

from petstore.models.domains import Domain
from petstore.models.domains.checks import record_finding
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from tests.dashboard.browser import Browser, words
from tests.dashboard.test_domains import DOMAINS, act, page_of
from tests.harness.clocks import Clock
from tests.harness.dns_server import DnsServer
from tests.harness.host_fixtures import NAME, Own


@pytest.fixture
def environ(environ: dict[str, str], host_settings: dict[str, str]) -> dict[str, str]:
    return environ | host_settings


def test_free_plan_sees_an_upgrade_notice_instead_of_the_form(
    browser: Browser, project: Project
):
    project.change_plan(Plan("free"))
    page = browser.get(DOMAINS)
    assert "come with the plan Pro and above" in page.text
    assert 'name="name"' not in page.text
    assert browser.submit(DOMAINS, on="/dashboard/keys", name=NAME).status_code == 400
    assert Domain.page(project) == []


def test_free_plan_cannot_verify_or_choose_a_domain(
    browser: Browser, project: Project, own: Own, nameserver: DnsServer
):
    _, other = own(project, NAME), own(project, "other.example.org")
    project.change_plan(Plan("free"))
    assert "Stopped by the plan" in browser.get(DOMAINS).text
    for deed in ("verify", "primary"):
        assert "The plan Free has no domains" in act(browser, other, deed)
    assert nameserver.queries == []
    assert not Domain.find(project, other.id).is_primary


def test_lost_domain_is_shown_without_naming_the_new_owner(
    browser: Browser, shop: Domain, rival: Project, own: Own
):
    own(rival, NAME)
    page = browser.get(page_of(shop)).text
    assert "Another project has proved this domain" in page
    assert rival.slug not in page


@pytest.mark.parametrize(
    ("days", "badges", "told"),
    [
        (0, "Verified Primary DNS points elsewhere", "will not redirect here. From"),
        (7, "Verified DNS points elsewhere", "do not redirect here any more. From"),
        (30, "Expired", "It has not been served since"),
    ],
)
def test_dns_pointing_elsewhere_is_shown_with_what_follows_and_when(
    browser: Browser,
    project: Project,
    shop: Domain,
    clock: Clock,
    days: int,
    badges: str,
    told: str,
):
    record_finding(shop, "gone", is_proved=False)
    clock.move(days=days)
    browser.sign_in(Key.issue(project))  # the session may have expired by now
    assert f"{NAME} {badges}" in browser.read(DOMAINS)
    page = browser.get(page_of(shop))
    assert told in words(page)
    assert 'datetime="2027-04-16T' in page.text  # thirty days later


def test_domain_that_points_elsewhere_for_a_week_cannot_become_primary(
    browser: Browser, project: Project, shop: Domain, own: Own, clock: Clock
):
    other = own(project, "other.example.org")
    record_finding(other, "gone", is_proved=False)
    clock.move(days=7)
    browser.sign_in(Key.issue(project))
    assert "Make primary" not in browser.read(page_of(other))
    assert "only if DNS points here" in act(browser, other, "primary")
    assert Domain.find(project, shop.id).is_primary


def test_domain_that_was_never_verified_does_not_point_elsewhere(
    browser: Browser, project: Project, clock: Clock
):
    domain = Domain.add(project, NAME)
    record_finding(domain, "not there yet", is_proved=False)
    clock.move(days=8)
    browser.sign_in(Key.issue(project))
    page = browser.read(page_of(domain))
    assert "Not verified" in page
    assert "DNS points elsewhere" not in page
