"""/dashboard/settings/domains: from adding a domain to its certificate."""

import pytest
from flask import Flask

from petstore.hosting.verifier import Verifier
from petstore.models.domains import Domain, DomainToken
from petstore.models.keys import Key
from petstore.models.projects import Project
from tests.dashboard.browser import Browser, words
from tests.harness.background import finish_background
from tests.harness.dns_server import DnsServer
from tests.harness.host_fixtures import BASE, NAME, Own
from tests.harness.tls_proxy import TlsProxy

DOMAINS = "/dashboard/settings/domains"


@pytest.fixture
def environ(environ: dict[str, str], host_settings: dict[str, str]) -> dict[str, str]:
    return environ | host_settings


def page_of(domain: Domain) -> str:
    return f"{DOMAINS}/{domain.id}"


def act(browser: Browser, domain: Domain, deed: str) -> str:
    """Submit a form of the domain's page, and return the page that follows."""
    return browser.follow(f"{page_of(domain)}/{deed}", on=DOMAINS)


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
    assert len(Domain.page(project)) == 1


def test_every_domain_is_listed(browser: Browser, project: Project):
    for number in range(21):
        Domain.add(project, f"n{number}.example.org")
    page = browser.read(DOMAINS)
    assert "n0." in page
    assert "n20." in page


def test_failed_verification_shows_the_reason(browser: Browser, project: Project):
    page = act(browser, Domain.add(project, NAME), "verify")
    assert "DNS does not know shop.example.org yet" in page
    assert "Not verified" in page


def test_txt_records_are_escaped(
    browser: Browser, project: Project, nameserver: DnsServer
):
    nameserver.put("example.org", "A", "192.0.2.1")
    nameserver.put(f"shelter.{BASE}", "A", "192.0.2.1")
    nameserver.put("_petstore.example.org", "TXT", '"<script>alert(1)</script>"')
    domain = Domain.add(project, "example.org")
    act(browser, domain, "verify")
    page = browser.get(page_of(domain)).text
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page


def test_verified_domain_gets_its_certificate_automatically(
    browser: Browser,
    project: Project,
    nameserver: DnsServer,
    proxy: TlsProxy,
    verifier: Verifier,
):
    proxy.issue(NAME)
    nameserver.put(NAME, "CNAME", f"shelter.{BASE}")
    domain = Domain.add(project, NAME)
    assert "shop.example.org is yours" in act(browser, domain, "verify")
    finish_background(verifier)
    page = browser.read(page_of(domain))
    parts = ("Verified Primary", "Active from", "Test Authority", "keep this record")
    for part in parts:
        assert part in page


def test_second_check_at_the_same_time_is_refused(browser: Browser, project: Project):
    domain = Domain.add(project, NAME)
    DomainToken.acquire_lock(project.id)
    page = act(browser, domain, "verify")
    assert "DNS is still being asked about another domain" in page


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
    browser: Browser, project: Project, rival: Project, own: Own, is_verified: bool
):
    own(project if is_verified else rival, NAME)
    domain = Domain.page(project)[0] if is_verified else Domain.add(project, NAME)
    page = act(browser, domain, "remove")
    assert "is removed" in page
    # Another project may serve what this one has not verified.
    assert ("no longer served" in page) is is_verified
    assert Domain.page(project) == []


@pytest.mark.parametrize("action", ["", "/verify", "/primary", "/remove"])
def test_another_projects_domain_is_not_found(
    app: Flask, rival: Project, project: Project, shop: Domain, action: str
):
    browser = Browser(app, Key.issue(rival))
    path = page_of(shop) + action
    answer = browser.submit(path, on=DOMAINS) if action else browser.get(path)
    assert answer.status_code == 404
    assert (len(Domain.page(project)), Domain.page(rival)) == (1, [])
