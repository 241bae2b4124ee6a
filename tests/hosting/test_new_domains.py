"""A project verifies only so many domains for the first time in a UTC day."""

from collections.abc import Callable
from contextlib import suppress

import pytest

from petstore.hosting.verifier import Verifier
from petstore.models.domains import DnsResult, Domain
from petstore.models.projects import Project
from petstore.quotas.limiter import TooManyNewDomains
from tests.harness.browser import Browser
from tests.harness.clocks import Clock
from tests.harness.crowds import at_once
from tests.harness.dns_server import DnsServer
from tests.harness.host_fixtures import BASE

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
    verifier: Verifier, add: Add, clock: Clock
):
    for number in range(MOST):
        domain = add(f"n{number}")
        assert verifier.verify(domain)
        domain.remove()  # which does not make room for another one
    late = add("late")
    clock.move(seconds=12 * 3600 - 11)  # to the last second of the day
    with pytest.raises(TooManyNewDomains, match=f"verified {MOST} new domains today"):
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
    for name in (first.name, second.name) * MOST:
        [domain] = [each for each in Domain.all_by_name(project) if each.name == name]
        assert verifier.verify(domain)
    assert verifier.verify(add("third"))


def test_domains_of_one_moment_stay_within_the_limit(verifier: Verifier, add: Add):
    domains = [add(f"n{number}") for number in range(4 * MOST)]

    def verify(domain: Domain) -> None:
        with suppress(TooManyNewDomains):
            verifier.verify(domain)

    at_once(verify, domains)
    assert Domain.select().where(Domain.verified_ms.is_null(False)).count() == MOST


def test_page_says_why_a_domain_is_refused(app: object, key: str, add: Add):
    browser = Browser(app, key)
    for number in range(MOST + 1):
        page = f"/dashboard/settings/domains/{add(f'n{number}').id}"
        told = browser.follow(f"{page}/verify")
    assert f"has verified {MOST} new domains today" in told
    assert "Not verified" in told
