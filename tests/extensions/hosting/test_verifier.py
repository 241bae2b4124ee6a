"""Verification of domains, their certificates, and the repeated checks."""

import datetime
import socket
import threading
from collections.abc import Callable
from typing import Any

import pytest
import trustme
from flask.testing import FlaskClient

from petstore.concurrency import Delayed, start
from petstore.extensions.hosting import verifier as module
from petstore.extensions.hosting.models import Domain
from petstore.extensions.hosting.verifier import Verifier, fetch_certificate
from petstore.models.projects import Plan, Project
from petstore.settings import Address
from tests.extensions.hosting.fixtures import BASE, NAME, Own
from tests.harness.clocks import Clock
from tests.harness.databases import of_both_engines
from tests.harness.dns_server import DnsServer
from tests.harness.tls_proxy import TlsProxy
from tests.harness.waiting import wait_until

HANGING = "slow.example.net"


def now(domain: Domain) -> Domain:
    return Domain.get_own(domain.project, domain.id)


def test_handshake_for_the_certificate_goes_to_the_proxy_and_nobody_waits_for_it(
    verifier: Verifier,
    domain: Domain,
    nameserver: DnsServer,
    proxy: TlsProxy,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(module, "start", start)
    is_over, fetch = threading.Event(), module.fetch_certificate

    def fetch_late(*arguments: object) -> object:
        is_over.wait(60)
        return fetch(*arguments)

    monkeypatch.setattr(module, "fetch_certificate", fetch_late)
    nameserver.put(f"shelter.{BASE}", "A", "127.0.0.9")
    proxy.issue(NAME)
    assert verifier.verify(domain)
    assert now(domain).verified_ms
    assert now(domain).certificate == "issuing"
    is_over.set()
    wait_until(lambda: now(domain).certificate == "active", "no certificate")
    assert now(domain).certificate_issuer == "Test Authority"
    assert proxy.names == [NAME]
    assert {kind for _, kind in nameserver.queries} == {"CNAME", "CAA"}


def test_unverified_domain_gets_no_handshake(
    verifier: Verifier,
    domain: Domain,
    rival: Project,
    nameserver: DnsServer,
    proxy: TlsProxy,
):
    assert not verifier.verify(Domain.add(rival, NAME))  # it is another's target
    nameserver.put(NAME, "CNAME", "elsewhere.example.net")
    assert verifier.verify(domain) is False
    assert now(domain).verified_ms is None
    assert "elsewhere.example.net" in now(domain).finding
    assert proxy.names == []


def test_certificate_that_never_came_or_failed_is_tried_again(
    verifier: Verifier,
    domain: Domain,
    proxy: TlsProxy,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
):
    with monkeypatch.context() as patch:
        patch.setattr(module, "start", lambda *_: None)  # its process has ended
        verifier.verify(domain)
    assert now(domain).certificate == "issuing"
    for seconds, state in ((181, "failed"), (59 * 60, "failed"), (2 * 60, "active")):
        clock.move(seconds=seconds)
        verifier.recheck_due()
        assert now(domain).certificate == state
        if state == "failed":
            assert "no certificate" in now(domain).certificate_fault
            proxy.issue(NAME)


@of_both_engines
def test_domains_are_checked_once_an_hour_unless_the_plan_has_none(
    verifier: Verifier,
    project: Project,
    shop: Domain,
    nameserver: DnsServer,
    clock: Clock,
):
    asked = [(NAME, "CNAME"), (NAME, "A"), (NAME, "AAAA")]
    for days, queries in ((0, 0), (0.05, 1), (0.02, 1), (0.05, 2)):
        clock.move(days=days)
        verifier.recheck_due()
        assert nameserver.queries == asked * queries
    assert now(shop).misdirected_since_ms
    project.change_plan(Plan("free"))
    clock.move(days=1)
    verifier.recheck_due()
    assert nameserver.queries == asked * 2


def test_requests_have_the_domains_checked_again_and_again(
    set_limits: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    stranger: FlaskClient,
    verifier: Verifier,
):
    checks: list[None] = []
    monkeypatch.setattr(verifier, "_rechecks", Delayed(lambda: checks.append(None)))
    set_limits(recheck_seconds=0.01)
    for _ in range(2):
        stranger.get("/healthz")
        wait_until(lambda: checks, "no domain is checked")
        checks.clear()


@of_both_engines
@pytest.mark.parametrize("what", ["check_dns", "fetch_certificate"])
def test_names_that_hang_keep_no_other_project_waiting(
    verifier: Verifier,
    project: Project,
    rival: Project,
    own: Own,
    nameserver: DnsServer,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    what: str,
):
    hanging, is_over, call = [], threading.Event(), getattr(module, what)

    def hang(*arguments: Any) -> object:
        if HANGING in str(arguments):
            hanging.append(arguments)
            is_over.wait(60)
        return call(*arguments)

    monkeypatch.setattr(module, what, hang)
    monkeypatch.setattr(module, "start", start)
    names = [own(rival, f"{number}.{HANGING}") for number in range(14)]
    names += [own(project, name) for name in (NAME, "other.example.org")]
    for each in names:
        nameserver.put(each.name, "CNAME", verifier.address(each.project))
    clock.move(days=1)
    start(verifier.recheck_due)
    wait_until(lambda: all(now(each).certificate_fault for each in names[14:]))
    wait_until(lambda: len(hanging) == 1)
    is_over.set()
    wait_until(lambda: all(now(each).certificate_fault for each in names))


THEN = datetime.datetime(2033, 5, 18, 3, 33, 20, tzinfo=datetime.UTC)
PAST = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)


def test_issuer_and_expiry_are_read(proxy: TlsProxy):
    for name in (NAME, "xn--bcher-kva.example.org"):
        proxy.issue(name, expires=THEN)
        seen = fetch_certificate(proxy.address, name)
        assert seen == ("Test Authority", 2_000_000_000_000, None, None)
    assert proxy.names == [NAME, "xn--bcher-kva.example.org"]


def test_certificate_that_clients_would_refuse_is_reported(proxy: TlsProxy):
    for issued, fault in (
        (None, "no certificate for this domain yet"),
        ({"name": "other.example.org", "shown_for": NAME}, "Hostname mismatch"),
        ({"name": NAME, "expires": PAST}, "expired"),
        ({"name": NAME, "authority": trustme.CA()}, "not valid"),
    ):
        if issued:
            proxy.issue(**issued)
        seen = fetch_certificate(proxy.address, NAME)
        assert seen.issuer is None
        assert fault in seen.fault
        assert str(proxy.address) in seen.detail


def test_proxy_that_is_away_or_silent_is_reported(set_limits: Callable[..., None]):
    seen = fetch_certificate(Address("127.0.0.1", 9), NAME)
    assert seen.fault == "The operator's proxy cannot be reached: tell the operator."
    set_limits(handshake_seconds=0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        seen = fetch_certificate(Address(*silent.getsockname()), NAME)
    assert "in time" in seen.fault
