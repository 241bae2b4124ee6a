"""Verification of domains, their certificates, and the periodic checks."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from petstore.hosting.verifier import Verifier
from petstore.models.domains import DnsResult, Domain
from petstore.models.projects import Plan, Project
from tests.harness.background import finish_background
from tests.harness.clocks import Clock
from tests.harness.dns_server import DnsServer
from tests.harness.host_fixtures import BASE, NAME
from tests.harness.statements import recorded
from tests.harness.tls_proxy import TlsProxy
from tests.harness.waiting import wait_until


@pytest.fixture
def verify(verifier: Verifier) -> Callable[[Domain], Domain]:
    """A function that verifies a domain, and returns it once all is recorded."""

    def verify(domain: Domain) -> Domain:
        verifier.verify(domain)
        finish_background(verifier)
        return now(domain)

    return verify


@pytest.fixture
def recheck(verifier: Verifier) -> Callable[[], None]:
    """A function that checks the domains that are due, and waits for the end."""

    def recheck() -> None:
        verifier.recheck_due()
        finish_background(verifier)

    return recheck


def now(domain: Domain) -> Domain:
    return Domain.find(domain.project, domain.id)


def test_verify_proves_the_domain_and_fetches_its_certificate(
    verify: Callable, domain: Domain, proxy: TlsProxy
):
    assert domain.certificate == "pending"
    proxy.issue(NAME)
    verified = verify(domain)
    assert verified.verified_ms
    assert verified.certificate == "active"
    assert "Test Authority" in verified.certificate_issuer
    assert proxy.names == [NAME]


def test_handshake_failure_is_recorded(verify: Callable, domain: Domain):
    verified = verify(domain)
    assert verified.certificate == "failed"
    assert "no certificate" in verified.certificate_fault


def test_unproved_domain_gets_no_handshake(
    verify: Callable, domain: Domain, nameserver: DnsServer, proxy: TlsProxy
):
    nameserver.put(NAME, "CNAME", "elsewhere.example.net")
    checked = verify(domain)
    assert checked.verified_ms is None
    assert "elsewhere.example.net" in checked.finding
    assert proxy.names == []


def test_another_projects_target_proves_nothing(
    verify: Callable, domain: Domain, rival: Project
):
    assert verify(Domain.add(rival, NAME)).verified_ms is None


def test_failed_certificate_is_retried_after_an_hour(
    verify: Callable, recheck: Callable, domain: Domain, proxy: TlsProxy, clock: Clock
):
    verify(domain)
    proxy.issue(NAME)
    for seconds, state in ((59 * 60, "failed"), (2 * 60, "active")):
        clock.move(seconds=seconds)
        recheck()
        assert now(domain).certificate == state


def test_abandoned_handshake_is_retried(
    recheck: Callable, domain: Domain, proxy: TlsProxy, clock: Clock
):
    domain.record(DnsResult(True, "as it should be"), most_new=1)
    assert now(domain).certificate == "issuing"
    proxy.issue(NAME)
    clock.move(seconds=181)
    recheck()
    assert now(domain).certificate == "active"


def test_domains_are_checked_once_an_hour_even_if_nobody_asks_for_them(
    recheck: Callable, shop: Domain, nameserver: DnsServer, clock: Clock
):
    for days, questions in ((0, 0), (0.05, 1), (0.02, 1), (0.05, 2)):
        clock.move(days=days)
        recheck()
        assert nameserver.queries == [(NAME, "CNAME")] * questions
    assert now(shop).misdirected_since_ms


def test_a_timer_that_the_first_request_starts_checks_domains(
    set_limits: Callable[..., None],
    stranger: FlaskClient,
    verifier: Verifier,
    shop: Domain,
    nameserver: DnsServer,
    clock: Clock,
):
    set_limits(recheck_seconds=0.01)
    stranger.get("/healthz")
    for _ in range(2):
        nameserver.queries.clear()
        finish_background(verifier)  # which notes the time of the clock
        clock.move(days=1)
        wait_until(lambda: nameserver.queries, "no domain is checked")


def test_a_request_runs_no_check_itself(
    client: FlaskClient, shop: Domain, nameserver: DnsServer, clock: Clock
):
    clock.move(days=1)
    with recorded() as seen:
        client.get("/v1/pets", headers={"Host": BASE}).close()
    assert not [each for each in seen if "domain" in each.sql]
    assert nameserver.queries == []


@pytest.mark.parametrize(("plan", "queries"), [("free", 0), ("pro", 1)])
def test_repeated_checks_query_dns_once_and_only_if_the_plan_has_domains(
    recheck: Callable,
    project: Project,
    shop: Domain,
    nameserver: DnsServer,
    clock: Clock,
    plan: str,
    queries: int,
):
    project.change_plan(Plan(plan))
    clock.move(days=1)
    for _ in range(5):
        clock.move(seconds=60)
        recheck()
    assert len(nameserver.queries) == queries


def test_handshake_goes_only_to_the_configured_proxy(
    verify: Callable, domain: Domain, nameserver: DnsServer, proxy: TlsProxy
):
    nameserver.put(f"shelter.{BASE}", "A", "127.0.0.9")
    nameserver.put("127.0.0.9", "A", "127.0.0.9")
    verify(domain)
    assert proxy.names == [NAME]
    assert {kind for _, kind in nameserver.queries} == {"CNAME"}
