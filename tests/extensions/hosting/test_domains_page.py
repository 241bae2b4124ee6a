"""/dashboard/settings/domains: from adding a domain to its certificate, and beyond."""

from collections.abc import Callable

import pytest
from flask import Flask

from petstore.extensions.hosting.models import DnsResult, Domain
from petstore.models.projects import Plan, Project
from tests.extensions.hosting.fixtures import BASE, NAME, Own
from tests.harness.browser import SIGN_IN, Browser, words
from tests.harness.clocks import Clock
from tests.harness.dns_server import DnsServer
from tests.harness.tls_proxy import TlsProxy

pytestmark = pytest.mark.usefixtures("hosts")
DOMAINS = "/dashboard/settings/domains"
OTHER = "other.example.org"


def page_of(domain: Domain) -> str:
    return f"{DOMAINS}/{domain.id}"


def act(browser: Browser, domain: Domain, deed: str, **fields: str) -> str:
    """Submit a form of the domain's page, and return the page that follows."""
    return browser.follow(f"{page_of(domain)}/{deed}", **fields)


def test_adding_a_domain_shows_the_records_to_create(browser: Browser):
    assert f"https://shelter.{BASE}/v1" in browser.read(DOMAINS)
    for typed, parts in (
        (
            "https://Shop.Example.ORG./",
            ("CNAME", NAME, f"shelter.{BASE}", "3600", f"_petstore.{NAME}"),
        ),
        ("example.org", ("ALIAS or ANAME", "TXT", "_petstore.example.org")),
    ):
        page = browser.follow(DOMAINS, name=typed)
        assert "Not verified" in page
        assert all(part in page for part in parts)


def test_invalid_domain_is_refused_with_a_message(browser: Browser, project: Project):
    Domain.add(project, NAME)
    for typed, said in (
        (f"x.{BASE}", "belongs to this service"),
        ("'\"><script>alert(1)</script>", "the name alone"),
        (f"{NAME.upper()}.", "already one of your domains"),
    ):
        answer = browser.submit(DOMAINS, name=typed)
        assert said in words(answer)
        assert "<script>alert" not in answer.text
    assert len(Domain.all_by_name(project)) == 1


def test_verification_shows_what_is_wrong_or_the_certificate(
    browser: Browser,
    project: Project,
    nameserver: DnsServer,
    proxy: TlsProxy,
    set_limits: Callable[..., None],
):
    domain = Domain.add(project, NAME)
    page = act(browser, domain, "verify")
    assert "DNS does not point here. See below why." in page
    assert "shop.example.org has no CNAME record yet" in page
    assert "Not verified" in page
    assert "DNS points elsewhere" not in page
    assert "Only a verified domain can be primary" in act(browser, domain, "primary")
    proxy.issue(NAME)
    nameserver.put(NAME, "CNAME", f"shelter.{BASE}")
    assert "shop.example.org is yours" in act(browser, domain, "verify")
    page = browser.read(page_of(domain))
    for part in ("Verified Primary", "Active from", "Test Authority", "Keep these"):
        assert part in page
    nameserver.is_silent = True
    set_limits(dns_seconds=0.2, dns_server_seconds=0.1)
    page = act(browser, domain, "verify")
    assert "We could not look the domain up in time." in page
    assert "does not point here" not in page


def test_a_domain_is_removed(
    browser: Browser, key: str, project: Project, rival: Project, own: Own
):
    own(rival, OTHER)
    for domain, is_served in ((own(project, NAME), True), (None, False)):
        page = act(browser, domain or Domain.add(project, OTHER), "remove", key=key)
        assert "is removed" in page
        # Another project may serve what this one has not verified.
        assert ("no longer served" in page) is is_served
        assert Domain.all_by_name(project) == []


def test_free_plan_sees_why_its_domains_are_stopped_and_cannot_change_them(
    browser: Browser, project: Project, own: Own, nameserver: DnsServer
):
    _, other = own(project, NAME), own(project, OTHER)
    project.change_plan(Plan("free"))
    page = browser.get(DOMAINS)
    assert "come with the plan Pro and above" in page.text
    assert "Stopped by the plan" in page.text
    assert 'name="name"' not in page.text
    browser.submit(DOMAINS, name="new.example.org")
    for deed in ("verify", "primary"):
        assert "need the plan Pro or above" in act(browser, other, deed)
    assert nameserver.queries == []
    assert not Domain.get_own(project, other.id).is_primary
    assert len(Domain.all_by_name(project)) == 2


def test_lost_domain_is_shown(browser: Browser, shop: Domain, rival: Project, own: Own):
    own(rival, NAME)
    page = browser.get(page_of(shop)).text
    assert "Another project has proved this domain" in page
    assert rival.slug not in page


def test_dns_elsewhere_is_shown(browser: Browser, shop: Domain, key: str, clock: Clock):
    shop.record(DnsResult(False, "gone"))
    for days, badges in ((0, "Verified Primary DNS points elsewhere"), (30, "Expired")):
        clock.move(days=days)
        browser.sign_in(key)  # the session may have expired by now
        assert f"{NAME} {badges}" in browser.read(DOMAINS)
        assert 'datetime="2027-04-16T' in browser.get(page_of(shop)).text


PAGES = ["/dashboard", "/dashboard/", SIGN_IN, "/dashboard/keys", "/dashboard/nothing"]
PROJECT_HOSTS = [f"shelter.{BASE}", NAME, "old.example.org"]


def test_pages_lead_to_base_domain(app: Flask, key: str, project: Project, own: Own):
    for name in PROJECT_HOSTS[1:]:  # the second one redirects to the first
        own(project, name)
    for host in PROJECT_HOSTS:
        browser = Browser(app, base_url=f"https://{host}:8443")
        for page in PAGES:
            answer = browser.get(f"{page}?next=%2Fdashboard&x=1")
            assert answer.status_code == 303
            told = f"https://{BASE}:8443{page}?next=%2Fdashboard&x=1"
            assert answer.headers["Location"] == told
            assert answer.headers["Cache-Control"] == "no-store"
        answer = browser.submit(SIGN_IN, key=key)
        assert answer.status_code == 303
        assert answer.location == f"https://{BASE}:8443{SIGN_IN}"
        assert "Set-Cookie" not in answer.headers
