"""Ownership of domains: who has the latest proof, and how many new ones a day."""

from collections.abc import Callable
from contextlib import suppress

import pytest
from flask import Flask

from petstore.extensions.hosting.models import (
    DnsResult,
    Domain,
    DomainNotAllowed,
    DomainToken,
    Host,
)
from petstore.extensions.hosting.verifier import TooManyNewDomains, Verifier
from petstore.models import NotFound
from petstore.models.projects import Plan, Project
from tests.extensions.hosting.fixtures import BASE, NAME, Own
from tests.harness.browser import Browser
from tests.harness.clocks import Clock
from tests.harness.crowds import at_once
from tests.harness.databases import of_both_engines
from tests.harness.dns_server import DnsServer
from tests.harness.limits import fill_up_domains


def owner() -> int | None:
    host = Host.find_by_domain(NAME)
    return host and host.project_id


@of_both_engines
def test_concurrent_additions_respect_the_limit(project: Project, rival: Project):
    fill_up_domains(project, leave=4)
    messages = []

    def add(number: int) -> None:
        try:
            Domain.add(project, f"n{number}.example.org")
        except DomainNotAllowed as error:
            messages.append(str(error))

    at_once(add, range(12))
    assert len(Domain.all_by_name(project)) == 100
    assert messages == ["A project can have at most 100 domains."] * 8
    assert Domain.add(rival, "own.example.org")


@of_both_engines
def test_project_that_proves_the_domain_owns_it_until_another_proves_it(
    project: Project, rival: Project, own: Own, capfd: pytest.CaptureFixture
):
    mine = Domain.add(project, NAME)
    assert owner() is None
    mine.record(DnsResult(True, "me"), by_owner=True)
    mine.choose()
    assert owner() == project.id
    own(rival, NAME)
    assert owner() == rival.id
    lost = Domain.get_own(project, mine.id)
    assert (lost.verified_ms, lost.is_chosen, lost.is_primary) == (None, False, False)
    assert lost.lost_ms is not None
    assert '"event":"domain_taken_over"' in capfd.readouterr().out
    mine.record(DnsResult(True, "a late check finds it as it was"))
    assert owner() == rival.id
    mine.record(DnsResult(True, "again"), by_owner=True)
    assert owner() == project.id
    assert Domain.get_own(project, mine.id).lost_ms is None


def test_proving_a_removed_domain_keeps_the_owner(shop: Domain, rival: Project):
    domain = Domain.add(rival, NAME)
    domain.remove()
    with pytest.raises(NotFound):
        domain.record(DnsResult(True, "too late"), by_owner=True)
    assert owner() == shop.project_id


def test_who_does_not_own_a_domain_merely_withdraws_it(
    shop: Domain, rival: Project, own: Own, capfd: pytest.CaptureFixture
):
    Domain.add(rival, NAME).remove()
    assert owner() == shop.project_id
    theirs = own(rival, NAME)
    shop.remove()
    assert owner() == rival.id
    events = capfd.readouterr().out
    for event, times in (("added", 2), ("verified", 1), ("withdrawn", 2)):
        assert events.count(f'"event":"domain_{event}"') == times
    assert '"event":"domain_removed"' not in events
    for name in ("a.example.org", "b.example.org"):
        own(shop.project, name).choose()
    theirs.remove()
    events = capfd.readouterr().out
    assert '"event":"domain_primary_changed"' in events
    assert '"event":"domain_removed"' in events


@of_both_engines
def test_concurrent_proofs_leave_one_owner(app: Flask):
    projects = [Project.add(f"P{n}", None, Plan("pro")) for n in range(6)]
    added = [Domain.add(project, NAME) for project in projects]
    at_once(lambda domain: domain.record(DnsResult(True, "me"), by_owner=True), added)
    assert Domain.select().where(Domain.verified_ms.is_null(False)).count() == 1
    assert Domain.select().where(Domain.lost_ms.is_null(False)).count() == 5


def test_each_project_has_one_lasting_token(project: Project, rival: Project):
    Domain.add(project, "a.example.org")
    token = DomainToken.of(project)
    Domain.add(project, "b.example.org")
    Domain.add(rival, "b.example.org")
    assert DomainToken.of(project) == token
    assert DomainToken.of(rival) != token
    assert len(token) == 40


MOST = 3
Add = Callable[[str], Domain]


@pytest.fixture
def environ(environ: dict[str, str]) -> dict[str, str]:
    return environ | {"PETSTORE_NEW_DOMAINS_PER_DAY": f"{MOST}"}


@pytest.fixture
def add(project: Project, nameserver: DnsServer) -> Add:
    """A function that adds a domain, which points at the project in DNS."""

    def add(name: str) -> Domain:
        nameserver.put(f"{name}.example.org", "CNAME", f"shelter.{BASE}")
        return Domain.add(project, f"{name}.example.org")

    return add


def test_further_domain_is_refused_until_the_next_day(
    verifier: Verifier, add: Add, app: Flask, key: str, clock: Clock
):
    for number in range(MOST):
        domain = add(f"n{number}")
        assert verifier.verify(domain)
        domain.remove()  # which does not make room for another one
    late = add("late")
    page = f"/dashboard/settings/domains/{late.id}"
    told = Browser(app, key).follow(f"{page}/verify")
    assert f"has verified {MOST} new domains today" in told
    assert "Not verified" in told
    clock.move(seconds=12 * 3600 - 11)  # to the last second of the day
    with pytest.raises(TooManyNewDomains):
        verifier.verify(late)
    clock.move(seconds=1)
    assert verifier.verify(late)


def test_domain_that_was_verified_before_counts_for_nothing(
    verifier: Verifier, add: Add, project: Project, rival: Project
):
    first, second = add("first"), add("second")
    verifier.verify(first)
    verifier.verify(second)
    mine = Domain.add(rival, first.name)
    mine.record(DnsResult(True, "mine"), by_owner=True)
    for domain in (first, second) * MOST:
        assert verifier.verify(Domain.get_own(project, domain.id))
    assert verifier.verify(add("third"))


@of_both_engines
def test_domains_of_one_moment_stay_within_the_limit(verifier: Verifier, add: Add):
    domains = [add(f"n{number}") for number in range(4 * MOST)]

    def verify(domain: Domain) -> None:
        with suppress(TooManyNewDomains):
            verifier.verify(domain)

    at_once(verify, domains)
    assert Domain.select().where(Domain.verified_ms.is_null(False)).count() == MOST
