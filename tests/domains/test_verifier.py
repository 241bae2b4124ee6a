"""Verification of domains, their certificates, and the periodic checks."""

import pytest
from flask.testing import FlaskClient

from petstore.domains.verifier import Verifier
from petstore.models.domains import Domain
from petstore.models.domains.checks import prove, record_handshake
from petstore.models.projects import Plan, Project
from tests.domains.test_hosts import Own
from tests.harness.background import finish_background
from tests.harness.clocks import Clock
from tests.harness.dns_server import DnsServer
from tests.harness.host_fixtures import BASE
from tests.harness.tls_proxy import TlsProxy

NAME = "shop.example.org"


@pytest.fixture
def domain(project: Project, nameserver: DnsServer) -> Domain:
    nameserver.put(NAME, "CNAME", f"shelter.{BASE}")
    return Domain.add(project, NAME)


def now(domain: Domain) -> Domain:
    return Domain.find(domain.project, domain.id)


def test_verify_proves_the_domain_and_fetches_its_certificate(
    verifier: Verifier, domain: Domain, proxy: TlsProxy
):
    assert domain.certificate == "pending"
    proxy.issue(NAME)
    verifier.verify(domain)
    assert now(domain).verified_ms
    finish_background(verifier)
    assert now(domain).certificate == "active"
    assert "Test Authority" in now(domain).certificate_issuer
    assert proxy.names == [NAME]


def test_handshake_failure_is_recorded(verifier: Verifier, domain: Domain):
    verifier.verify(domain)
    finish_background(verifier)
    assert now(domain).certificate == "failed"
    assert "no certificate" in now(domain).certificate_fault


def test_unproved_domain_gets_no_handshake(
    verifier: Verifier, domain: Domain, nameserver: DnsServer, proxy: TlsProxy
):
    nameserver.put(NAME, "CNAME", "elsewhere.example.net")
    verifier.verify(domain)
    finish_background(verifier)
    assert now(domain).verified_ms is None
    assert "elsewhere.example.net" in now(domain).finding
    assert proxy.names == []


def test_another_projects_target_proves_nothing(
    verifier: Verifier, domain: Domain, rival: Project
):
    rivals = Domain.add(rival, NAME)
    verifier.verify(rivals)
    assert now(rivals).verified_ms is None


def test_failed_certificate_is_retried_after_15_minutes(
    verifier: Verifier, domain: Domain, proxy: TlsProxy, clock: Clock
):
    verifier.verify(domain)
    finish_background(verifier)
    proxy.issue(NAME)
    for seconds, state in ((60, "failed"), (15 * 60, "active")):
        clock.move(seconds=seconds)
        verifier.recheck_project(domain.project)
        finish_background(verifier)
        assert now(domain).certificate == state


def test_abandoned_handshake_is_retried(
    verifier: Verifier, domain: Domain, proxy: TlsProxy, clock: Clock
):
    prove(domain, "as it should be", most_new=1)
    record_handshake(domain)
    assert now(domain).certificate == "issuing"
    proxy.issue(NAME)
    clock.move(seconds=181)
    verifier.recheck_project(domain.project)
    finish_background(verifier)
    assert now(domain).certificate == "active"


def test_requests_trigger_a_dns_check_once_an_hour(
    client: FlaskClient,
    verifier: Verifier,
    own: Own,
    project: Project,
    nameserver: DnsServer,
    clock: Clock,
):
    own(project, NAME)
    for days, questions in ((0, 0), (0.05, 1), (0.02, 1), (0.05, 2)):
        clock.move(days=days)
        client.get("/v1/pets", headers={"Host": BASE})
        finish_background(verifier)
        assert nameserver.queries == [(NAME, "CNAME")] * questions
    assert Domain.page(project)[0].misdirected_since_ms


@pytest.mark.parametrize(("plan", "queries"), [("free", 0), ("pro", 1)])
def test_repeated_checks_query_dns_once_and_only_if_the_plan_has_domains(
    verifier: Verifier,
    own: Own,
    project: Project,
    nameserver: DnsServer,
    clock: Clock,
    plan: str,
    queries: int,
):
    own(project, NAME)
    project.change_plan(Plan(plan))
    clock.move(days=1)
    for _ in range(5):
        verifier.recheck_project(project)
    finish_background(verifier)
    assert len(nameserver.queries) == queries


def test_handshake_goes_only_to_the_configured_proxy(
    verifier: Verifier, domain: Domain, nameserver: DnsServer, proxy: TlsProxy
):
    nameserver.put(f"shelter.{BASE}", "A", "127.0.0.9")
    nameserver.put("127.0.0.9", "A", "127.0.0.9")
    verifier.verify(domain)
    finish_background(verifier)
    assert proxy.names == [NAME]
    assert {kind for _, kind in nameserver.queries} == {"CNAME"}
