"""/dashboard/settings/domains: from adding a domain to its certificate, and beyond."""

from collections.abc import Callable

import pytest
from flask import Flask

from petstore.models.domains import DnsResult, Domain
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from tests.harness.browser import Browser, words
from tests.harness.clocks import Clock
from tests.harness.dns_server import DnsServer
from tests.harness.host_fixtures import BASE, NAME, Own
from tests.harness.tls_proxy import TlsProxy

DOMAINS = "/dashboard/settings/domains"


@pytest.fixture
def environ(environ: dict[str, str], host_settings: dict[str, str]) -> dict[str, str]:
    return environ | host_settings


def page_of(domain: Domain) -> str:
    return f"{DOMAINS}/{domain.id}"


def act(browser: Browser, domain: Domain, deed: str, **fields: str) -> str:
    """Submit a form of the domain's page, and return the page that follows."""
    return browser.follow(f"{page_of(domain)}/{deed}", **fields)


def test_the_generated_address_is_shown(browser: Browser):
    assert f"https://shelter.{BASE}/v1" in browser.read(DOMAINS)


@pytest.mark.parametrize(
    ("typed", "parts"),
    [
        (" Shop.Example.ORG. ", ("CNAME", NAME, f"shelter.{BASE}", "3600")),
        ("example.org", ("ALIAS or ANAME", "TXT", "_petstore.example.org")),
    ],
)
def test_adding_a_domain_shows_the_records_to_create(
    browser: Browser, typed: str, parts: tuple[str, ...]
):
    page = browser.follow(DOMAINS, name=typed)
    assert "Not verified" in page
    assert all(part in page for part in parts)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (f"x.{BASE}", "belongs to this service"),
        ("'\"><script>alert(1)</script>", "the name alone"),
        (f"{NAME.upper()}.", "already one of your domains"),
    ],
)
def test_invalid_domain_is_refused_with_a_message(
    browser: Browser, project: Project, typed: str, said: str
):
    Domain.add(project, NAME)
    answer = browser.submit(DOMAINS, name=typed)
    assert answer.status_code == 400
    assert said in words(answer)
    assert "<script>alert" not in answer.text
    assert len(Domain.all_by_name(project)) == 1


def test_every_domain_is_listed(browser: Browser, project: Project):
    for number in range(21):
        Domain.add(project, f"n{number}.example.org")
    page = browser.read(DOMAINS)
    assert "n0." in page
    assert "n20." in page


def test_failed_verification_shows_the_reason(browser: Browser, project: Project):
    page = act(browser, Domain.add(project, NAME), "verify")
    assert "DNS does not point here. See below why." in page
    assert "shop.example.org has no CNAME record yet" in page
    assert "Not verified" in page


def test_dns_that_does_not_answer_is_not_taken_for_pointing_elsewhere(
    browser: Browser,
    project: Project,
    nameserver: DnsServer,
    set_limits: Callable[..., None],
):
    nameserver.is_silent = True
    set_limits(dns_seconds=0.2, dns_server_seconds=0.1)
    page = act(browser, Domain.add(project, NAME), "verify")
    assert "DNS has not told yet where this domain points." in page
    assert "does not point here" not in page


def test_txt_records_are_escaped(
    browser: Browser, project: Project, nameserver: DnsServer
):
    for name in ("example.org", f"shelter.{BASE}"):
        nameserver.put(name, "A", "192.0.2.1")
    nameserver.put("_petstore.example.org", "TXT", '"<script>alert(1)</script>"')
    domain = Domain.add(project, "example.org")
    act(browser, domain, "verify")
    page = browser.get(page_of(domain)).text
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page


def test_verified_domain_gets_its_certificate_automatically(
    browser: Browser, project: Project, nameserver: DnsServer, proxy: TlsProxy
):
    proxy.issue(NAME)
    nameserver.put(NAME, "CNAME", f"shelter.{BASE}")
    domain = Domain.add(project, NAME)
    assert "shop.example.org is yours" in act(browser, domain, "verify")
    page = browser.read(page_of(domain))
    parts = ("Verified Primary", "Active from", "Test Authority", "keep this record")
    for part in parts:
        assert part in page


@pytest.mark.usefixtures("shop")
def test_primary_domain_can_be_changed(browser: Browser, project: Project, own: Own):
    other = own(project, "other.example.org")
    assert f"redirected to {NAME}" in browser.read(page_of(other))
    act(browser, other, "primary")
    assert Domain.find(project, other.id).is_primary


def test_unverified_domain_cannot_become_primary(browser: Browser, project: Project):
    page = act(browser, Domain.add(project, NAME), "primary")
    assert "Only a verified domain can be primary" in page


@pytest.mark.parametrize("is_verified", [True, False])
def test_a_domain_is_removed(
    browser: Browser,
    key: str,
    project: Project,
    rival: Project,
    own: Own,
    is_verified: bool,
):
    own(project if is_verified else rival, NAME)
    domain = (
        Domain.all_by_name(project)[0] if is_verified else Domain.add(project, NAME)
    )
    page = act(browser, domain, "remove", key=key)
    assert "is removed" in page
    # Another project may serve what this one has not verified.
    assert ("no longer served" in page) is is_verified
    assert Domain.all_by_name(project) == []


@pytest.mark.parametrize("action", ["", "/verify", "/primary", "/remove"])
def test_another_projects_domain_is_not_found(
    app: Flask, rival: Project, project: Project, shop: Domain, action: str
):
    browser = Browser(app, Key.issue(rival))
    path = page_of(shop) + action
    answer = browser.submit(path) if action else browser.get(path)
    assert answer.status_code == 404
    assert (len(Domain.all_by_name(project)), Domain.all_by_name(rival)) == (1, [])


def test_free_plan_sees_an_upgrade_notice_instead_of_the_form(
    browser: Browser, project: Project
):
    project.change_plan(Plan("free"))
    page = browser.get(DOMAINS)
    assert "come with the plan Pro and above" in page.text
    assert 'name="name"' not in page.text
    assert browser.submit(DOMAINS, name=NAME).status_code == 400
    assert Domain.all_by_name(project) == []


def test_free_plan_cannot_verify_or_choose_a_domain(
    browser: Browser, project: Project, own: Own, nameserver: DnsServer
):
    _, other = own(project, NAME), own(project, "other.example.org")
    project.change_plan(Plan("free"))
    assert "Stopped by the plan" in browser.get(DOMAINS).text
    for deed in ("verify", "primary"):
        assert "need the plan Pro or above" in act(browser, other, deed)
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
    shop.record(DnsResult(False, "gone"))
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
    other.record(DnsResult(False, "gone"))
    clock.move(days=7)
    browser.sign_in(Key.issue(project))
    assert "Make primary" not in browser.read(page_of(other))
    assert "only if DNS points here" in act(browser, other, "primary")
    assert Domain.find(project, shop.id).is_primary


def test_domain_that_was_never_verified_does_not_point_elsewhere(
    browser: Browser, project: Project
):
    domain = Domain.add(project, NAME)
    domain.record(DnsResult(False, "not there yet"))
    page = browser.read(page_of(domain))
    assert "Not verified" in page
    assert "DNS points elsewhere" not in page
