"""/dashboard/settings/domains: from adding a domain to its certificate."""

import re
from collections.abc import Callable
from unittest.mock import Mock

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from petstore.domains.inspection import Busy, Inspection
from petstore.models.domains import Domain
from petstore.models.keys import Key
from petstore.models.projects import Project
from tests.dashboard.browser import Browser, words
from tests.hosts.dns_server import DnsServer
from tests.hosts.fixtures import BASE
from tests.hosts.tls_proxy import TlsProxy

DOMAINS = "/dashboard/settings/domains"
NAME = "shop.example.org"
Own = Callable[[Project, str], Domain]


@pytest.fixture
def environ(environ: dict[str, str], host_settings: dict[str, str]) -> dict[str, str]:
    return environ | host_settings


@pytest.fixture
def rival_browser(app: Flask, rival: Project) -> Browser:
    browser = Browser(app)
    browser.sign_in(Key.issue(rival))
    return browser


def send(browser: Browser, path: str, **fields: str) -> TestResponse:
    """Submit a form and return the response, after following a redirect."""
    answer = browser.submit(path, on=DOMAINS, **fields)
    return browser.get(answer.location) if answer.status_code == 303 else answer


def page_of(domain: Domain) -> str:
    return f"{DOMAINS}/{domain.id}"


def test_the_generated_address_is_shown(browser: Browser):
    assert f"https://shelter.{BASE}/v1" in browser.get(DOMAINS).text


def test_adding_a_domain_shows_the_record_to_create(browser: Browser):
    page = words(send(browser, DOMAINS, name=" Shop.Example.ORG. "))
    assert "Not verified" in page
    for part in ("CNAME", NAME, f"shelter.{BASE}", "3600"):
        assert part in page


def test_adding_an_apex_shows_both_records_to_create(
    browser: Browser, project: Project
):
    page = words(send(browser, DOMAINS, name="example.org"))
    assert "ALIAS or ANAME" in page
    assert "TXT" in page
    assert "_petstore.example.org" in page


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "Enter a domain"),
        ("*.example.org", "wildcard"),
        ("192.0.2.1", "IP address"),
        ("co.uk", "public suffix"),
        (f"x.{BASE}", "belongs to this service"),
        ("'\"><script>alert(1)</script>", "the name alone"),
        ("a\0b", "not a valid domain name"),
    ],
)
def test_invalid_domain_is_refused_with_a_message(
    browser: Browser, project: Project, typed: str, said: str
):
    answer = send(browser, DOMAINS, name=typed)
    assert answer.status_code == 400
    assert said in words(answer)
    assert "<script>alert" not in answer.text
    assert Domain.page(project) == []


def test_domains_are_paginated(browser: Browser, project: Project):
    for number in range(21):
        Domain.add(project, f"n{number}.example.org")
    page = browser.get(DOMAINS)
    assert "n19." in words(page)
    assert "n20." not in words(page)
    [following] = re.findall('href="([^"]+)" rel="next"', page.text)
    page = browser.get(following)
    assert "n20." in words(page)
    assert "First page" in words(page)


def test_duplicate_domain_is_refused(browser: Browser, project: Project):
    send(browser, DOMAINS, name=NAME)
    answer = send(browser, DOMAINS, name=NAME.upper())
    assert "already one of your domains" in words(answer)


def test_failed_verification_shows_the_reason(browser: Browser, project: Project):
    domain = Domain.add(project, NAME)
    page = words(send(browser, f"{page_of(domain)}/verify"))
    assert "DNS does not know shop.example.org yet" in page
    assert "Not verified" in page


def test_txt_records_are_escaped(
    browser: Browser, project: Project, nameserver: DnsServer
):
    nameserver.put("example.org", "A", "192.0.2.1")
    nameserver.put(f"shelter.{BASE}", "A", "192.0.2.1")
    nameserver.put("_petstore.example.org", "TXT", '"<script>alert(1)</script>"')
    domain = Domain.add(project, "example.org")
    page = send(browser, f"{page_of(domain)}/verify").text
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page


def test_verified_domain_gets_its_certificate_automatically(
    browser: Browser,
    project: Project,
    nameserver: DnsServer,
    proxy: TlsProxy,
    inspection: Inspection,
):
    proxy.issue(NAME)
    nameserver.put(NAME, "CNAME", f"shelter.{BASE}")
    domain = Domain.add(project, NAME)
    assert (
        "shop.example.org is yours" in send(browser, f"{page_of(domain)}/verify").text
    )
    inspection.wait()
    page = words(browser.get(page_of(domain)))
    assert "Verified Primary" in page
    assert "Active from" in page
    assert "Test Authority" in page


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (lambda _: None, "DNS has not answered yet. Open this page again"),
        (Mock(side_effect=Busy), "DNS is still being asked about another domain"),
    ],
)
def test_unfinished_dns_query_is_reported(
    browser: Browser,
    project: Project,
    inspection: Inspection,
    monkeypatch: pytest.MonkeyPatch,
    verdict: Callable[[Domain], None],
    said: str,
):
    monkeypatch.setattr(inspection, "verify", verdict)
    domain = Domain.add(project, NAME)
    assert said in words(send(browser, f"{page_of(domain)}/verify"))


def test_primary_domain_can_be_changed(browser: Browser, project: Project, own: Own):
    own(project, NAME)
    other = own(project, "other.example.org")
    page = browser.get(page_of(other))
    assert f"redirected to {NAME}" in words(page)
    send(browser, f"{page_of(other)}/primary")
    assert Domain.find(project, other.id).is_primary


def test_unverified_domain_cannot_become_primary(browser: Browser, project: Project):
    domain = Domain.add(project, NAME)
    page = send(browser, f"{page_of(domain)}/primary").text
    assert "Only a verified domain can be primary" in page


def test_a_domain_is_removed(browser: Browser, project: Project, own: Own):
    domain = own(project, NAME)
    assert "is removed" in send(browser, f"{page_of(domain)}/remove").text
    assert Domain.page(project) == []


@pytest.mark.parametrize("action", ["", "/verify", "/primary", "/remove"])
def test_another_projects_domain_is_not_found(
    rival_browser: Browser, project: Project, own: Own, action: str
):
    path = page_of(own(project, NAME)) + action
    answer = send(rival_browser, path) if action else rival_browser.get(path)
    assert answer.status_code == 404
    assert len(Domain.page(project)) == 1


@pytest.mark.parametrize("action", ["", "/1/verify", "/1/primary", "/1/remove"])
def test_forms_require_a_csrf_token(
    browser: Browser, project: Project, own: Own, action: str
):
    own(project, NAME)
    answer = browser.client.post(DOMAINS + action, data={"name": "x.example.org"})
    assert answer.status_code == 400
    assert len(Domain.page(project)) == 1


def test_page_requires_sign_in(app: Flask):
    answer = app.test_client().get(DOMAINS)
    assert answer.status_code == 303
    assert answer.location.endswith("/sign-in")
