"""A project proves only so many domains for the first time in a UTC day."""

from collections.abc import Callable
from contextlib import suppress

import pytest

from petstore.models.domains import DnsResult, Domain, NoSuchDomain, TooManyNewDomains
from petstore.models.projects import Project
from petstore.quotas.projects import delete_project
from tests.harness.browser import Browser
from tests.harness.clocks import Clock
from tests.harness.crowds import at_once
from tests.harness.dns_server import DnsServer
from tests.harness.host_fixtures import BASE

MOST = 3
Prove = Callable[[str], Domain]


@pytest.fixture
def environ(environ: dict[str, str]) -> dict[str, str]:
    return environ | {"PETSTORE_NEW_DOMAINS_PER_DAY": f"{MOST}"}


@pytest.fixture
def prove_new(project: Project) -> Prove:
    """A function that adds a domain and proves it."""

    def prove_new(name: str) -> Domain:
        domain = Domain.add(project, f"{name}.example.org")
        domain.record(DnsResult(True, "as it should be"), most_new=MOST)
        return domain

    return prove_new


def test_further_domain_is_refused_until_the_next_day(prove_new: Prove, clock: Clock):
    for number in range(MOST):
        prove_new(f"n{number}")
    with pytest.raises(TooManyNewDomains, match=f"verified {MOST} new domains today"):
        prove_new("late")
    clock.move(seconds=12 * 3600 - 11)  # to the last second of the day
    with pytest.raises(TooManyNewDomains):
        prove_new("later")
    clock.move(seconds=1)
    assert prove_new("next")


def test_removing_a_domain_does_not_reset_the_limit(prove_new: Prove):
    for number in range(MOST):
        prove_new(f"n{number}").remove()
    with pytest.raises(TooManyNewDomains):
        prove_new("another")


def test_domain_counts_once_a_day(prove_new: Prove):
    for _ in range(MOST + 1):
        prove_new("same").remove()
    assert prove_new("another")


def test_regaining_a_domain_counts_for_nothing(
    prove_new: Prove, project: Project, rival: Project, clock: Clock
):
    first = prove_new("first")
    Domain.add(rival, first.name).record(DnsResult(True, "mine"), most_new=1)
    clock.move(days=1)
    for number in range(MOST):
        prove_new(f"n{number}")
    first.record(DnsResult(True, "mine again"), most_new=MOST)
    assert Domain.find(project, first.id).verified_ms


def test_proof_ends_when_the_project_was_deleted_meanwhile(project: Project):
    domain = Domain.add(project, "late.example.org")
    delete_project(project)
    with pytest.raises(NoSuchDomain):
        domain.record(DnsResult(True, "as it should be"), most_new=MOST)


def test_refused_proof_takes_nothing_over(prove_new: Prove, rival: Project):
    owned = prove_new("owned")
    with pytest.raises(TooManyNewDomains):
        Domain.add(rival, owned.name).record(DnsResult(True, "mine"), most_new=0)
    assert Domain.get_by_id(owned.id).verified_ms


def test_concurrent_proofs_stay_within_the_limit(project: Project):
    domains = [Domain.add(project, f"n{n}.example.org") for n in range(4 * MOST)]

    def prove_it(domain: Domain) -> None:
        with suppress(TooManyNewDomains):
            domain.record(DnsResult(True, "as it should be"), most_new=MOST)

    at_once(prove_it, domains)
    assert Domain.select().where(Domain.verified_ms.is_null(False)).count() == MOST


def test_page_says_why_a_domain_is_refused(
    app: object, key: str, project: Project, nameserver: DnsServer
):
    browser = Browser(app, key)
    for number in range(MOST + 1):
        name = f"n{number}.example.org"
        nameserver.put(name, "CNAME", f"shelter.{BASE}")
        page = f"/dashboard/settings/domains/{Domain.add(project, name).id}"
        told = browser.follow(f"{page}/verify")
    assert told.count(f"has verified {MOST} new domains today") == 2  # also as finding
    assert "Not verified" in told
