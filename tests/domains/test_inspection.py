"""Verification of domains, their certificates, and the periodic checks."""

import pytest
from flask.testing import FlaskClient

from petstore.domains.inspection import Inspection
from petstore.models.domains import Domain
from petstore.models.projects import Plan, Project
from tests.clocks import Clock
from tests.domains.test_hosts import Own
from tests.hosts.dns_server import DnsServer
from tests.hosts.fixtures import BASE
from tests.hosts.tls_proxy import TlsProxy

NAME = "shop.example.org"


@pytest.fixture
def domain(project: Project, nameserver: DnsServer) -> Domain:
    nameserver.put(NAME, "CNAME", f"shelter.{BASE}")
    return Domain.add(project, NAME)


def now(domain: Domain) -> Domain:
    return Domain.find(domain.project, domain.id)


def test_verify_proves_the_domain_and_fetches_its_certificate(
    inspection: Inspection, domain: Domain, proxy: TlsProxy
):
    assert domain.certificate == "pending"
    proxy.issue(NAME)
    inspection.verify(domain)
    assert now(domain).verified_ms
    inspection.wait()
    assert now(domain).certificate == "active"
    assert "Test Authority" in now(domain).certificate_issuer
    assert proxy.asked == [NAME]


def test_certificate_is_issuing_until_the_handshake_ends(
    inspection: Inspection, domain: Domain, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(inspection, "_ask_proxy", lambda domain: None)
    inspection.verify(domain)
    assert now(domain).certificate == "issuing"


def test_handshake_failure_is_recorded(inspection: Inspection, domain: Domain):
    inspection.verify(domain)
    inspection.wait()
    assert now(domain).certificate == "failed"
    assert "no certificate" in now(domain).certificate_fault


def test_unproved_domain_gets_no_handshake(
    inspection: Inspection, domain: Domain, nameserver: DnsServer, proxy: TlsProxy
):
    nameserver.put(NAME, "CNAME", "elsewhere.example.net")
    inspection.verify(domain)
    inspection.wait()
    assert now(domain).verified_ms is None
    assert "elsewhere.example.net" in now(domain).finding
    assert proxy.asked == []


def test_another_projects_target_proves_nothing(
    inspection: Inspection, domain: Domain, rival: Project
):
    rivals = Domain.add(rival, NAME)
    inspection.verify(rivals)
    assert now(rivals).verified_ms is None


def test_failed_certificate_is_retried_after_15_minutes(
    inspection: Inspection, domain: Domain, proxy: TlsProxy, clock: Clock
):
    inspection.verify(domain)
    inspection.wait()
    proxy.issue(NAME)
    for seconds, state in ((60, "failed"), (15 * 60, "active")):
        clock.move(seconds=seconds)
        inspection.check_again(domain.project)
        inspection.wait()
        assert now(domain).certificate == state


def test_abandoned_handshake_is_retried(
    inspection: Inspection,
    domain: Domain,
    proxy: TlsProxy,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
):
    with monkeypatch.context() as dying:
        dying.setattr(inspection, "_ask_proxy", lambda domain: None)
        inspection.verify(domain)
        inspection.wait()
    proxy.issue(NAME)
    clock.move(seconds=181)
    inspection.check_again(domain.project)
    inspection.wait()
    assert now(domain).certificate == "active"


def test_requests_trigger_a_dns_check_once_an_hour(
    client: FlaskClient,
    inspection: Inspection,
    own: Own,
    project: Project,
    nameserver: DnsServer,
    clock: Clock,
):
    own(project, NAME)
    for days, questions in ((0, 0), (0.05, 1), (0.02, 1), (0.05, 2)):
        clock.move(days=days)
        client.get("/v1/pets", headers={"Host": BASE})
        inspection.wait()
        assert nameserver.asked == [(NAME, "CNAME")] * questions
    assert Domain.page(project)[0].astray_ms


def test_repeated_checks_query_dns_once(
    inspection: Inspection,
    own: Own,
    project: Project,
    nameserver: DnsServer,
    clock: Clock,
):
    own(project, NAME)
    clock.move(days=1)
    for _ in range(5):
        inspection.check_again(project)
    inspection.wait()
    assert len(nameserver.asked) == 1


@pytest.mark.parametrize("plan", ["free", "pro"])
def test_domains_are_checked_only_if_the_plan_has_domains(
    inspection: Inspection,
    own: Own,
    project: Project,
    nameserver: DnsServer,
    clock: Clock,
    plan: str,
):
    own(project, NAME)
    project.change_plan(Plan(plan))
    clock.move(days=1)
    inspection.check_again(project)
    inspection.wait()
    assert bool(nameserver.asked) == (plan == "pro")


def test_handshake_goes_only_to_the_configured_proxy(
    inspection: Inspection, domain: Domain, nameserver: DnsServer, proxy: TlsProxy
):
    nameserver.put(f"shelter.{BASE}", "A", "127.0.0.9")
    nameserver.put("127.0.0.9", "A", "127.0.0.9")
    inspection.verify(domain)
    inspection.wait()
    assert proxy.asked == [NAME]
    assert {kind for _, kind in nameserver.asked} == {"CNAME"}
