"""A slow DNS server delays only the verification of its own project's domains."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import dns.message
import pytest

from petstore.hosting.verifier import AlreadyVerifying, Verifier
from petstore.models.domains import Domain
from petstore.models.projects import Plan, Project
from tests.harness.crowds import at_once
from tests.harness.dns_server import DnsServer
from tests.harness.host_fixtures import NAME
from tests.harness.waiting import wait_until

SILENT = 10
PATIENT_SECONDS = 60  # no silent server may time out on a busy machine


@pytest.fixture
def silent(
    nameserver: DnsServer, set_limits: Callable[..., None]
) -> Iterator[threading.Event]:
    """An event; until it is set, names below silent.example.org get no answer."""
    set_limits(dns_seconds=PATIENT_SECONDS, dns_server_seconds=PATIENT_SECONDS)
    is_over = threading.Event()

    def twist(answer: dns.message.Message, _is_tcp: bool) -> None:
        if "silent" in answer.question[0].name.to_text():
            is_over.wait(PATIENT_SECONDS)

    nameserver.twist = twist
    yield is_over
    is_over.set()


def silent_domain(number: int = 0) -> Domain:
    """Return a domain that DNS does not answer for, of a new project."""
    project = Project.add(f"Silent {number}", None, Plan("pro"))
    return Domain.add(project, f"n{number}.silent.example.org")


@contextmanager
def verifying(verifier: Verifier, domains: list[Domain]) -> Iterator[list[bool]]:
    """Verify the domains in threads; yield the results as they come."""
    found: list[bool] = []
    thread = threading.Thread(
        target=at_once,
        args=(lambda domain: found.append(verifier.verify(domain)), domains),
    )
    thread.start()
    wait_until(
        lambda: len(verifier._verifying) == len(domains), "not all are being verified"
    )
    yield found
    thread.join()


def test_silent_domains_of_others_do_not_block_verification(
    verifier: Verifier, domain: Domain, silent: threading.Event
):
    domains = [silent_domain(number) for number in range(SILENT)]
    with verifying(verifier, domains) as found:
        assert verifier.verify(domain)
        assert found == []
        silent.set()
    assert found == [False] * SILENT


def test_project_verifies_one_domain_at_a_time(
    verifier: Verifier, silent: threading.Event
):
    first = silent_domain()
    another = Domain.add(first.project, NAME)
    with verifying(verifier, [first]):
        with pytest.raises(AlreadyVerifying):
            verifier.verify(another)
        silent.set()


def test_worker_verifies_only_so_many_domains_at_a_time(
    verifier: Verifier,
    domain: Domain,
    silent: threading.Event,
    set_limits: Callable[..., None],
):
    set_limits(dns_checks=2)
    with verifying(verifier, [silent_domain(number) for number in range(2)]):
        with pytest.raises(AlreadyVerifying):
            verifier.verify(domain)
        silent.set()
    assert verifier.verify(domain)
