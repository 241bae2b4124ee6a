"""What the page says of domains that the plan, DNS or another project has stopped."""

import pytest

from petstore.models.domain_proofs import record_finding
from petstore.models.domains import Domain
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from tests.clocks import Clock
from tests.dashboard.browser import Browser
from tests.dashboard.test_domains import DOMAINS, NAME, Own, page_of, send
from tests.hosts.dns_server import DnsServer


@pytest.fixture
def environ(environ: dict[str, str], host_settings: dict[str, str]) -> dict[str, str]:
    return environ | host_settings


def test_free_sees_how_to_get_domains_and_no_form(browser: Browser, project: Project):
    project.change_plan(Plan("free"))
    page = browser.get(DOMAINS)
    assert "come with the plan Pro and above" in page.text
    assert 'name="name"' not in page.text
    assert send(browser, DOMAINS, name=NAME).status_code == 400
    assert Domain.page(project) == []


def test_free_cannot_verify(browser: Browser, project: Project, nameserver: DnsServer):
    domain = Domain.add(project, NAME)
    project.change_plan(Plan("free"))
    send(browser, f"{page_of(domain)}/verify")
    assert nameserver.asked == []


def test_domains_that_the_plan_stopped_are_shown_as_such(
    browser: Browser, project: Project, own: Own
):
    own(project, NAME)
    project.change_plan(Plan("free"))
    assert "Stopped by the plan" in browser.get(DOMAINS).text


def test_a_domain_that_another_project_took_is_shown_as_such(
    browser: Browser, project: Project, rival: Project, own: Own
):
    lost = own(project, NAME)
    own(rival, NAME)
    page = browser.get(page_of(lost)).text
    assert "Another project has proved this domain" in page
    assert rival.slug not in page


def test_dns_that_points_elsewhere_for_a_week_is_shown_as_such(
    browser: Browser, project: Project, own: Own, clock: Clock
):
    domain = own(project, NAME)
    record_finding(domain, "gone", is_proved=False)
    assert "DNS points elsewhere" not in browser.get(DOMAINS).text
    clock.move(days=7)
    browser.sign_in(Key.issue(project))  # the session lasts hours
    assert "DNS points elsewhere" in browser.get(DOMAINS).text
