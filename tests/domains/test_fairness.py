"""A slow DNS server delays only the verification of its own project's domains."""

import threading
from collections.abc import Callable, Iterator

import dns.message
import pytest

from petstore.domains import inspection as inspections
from petstore.domains.dns import DnsResult
from petstore.domains.inspection import MAX_VERIFYING, Busy, Inspection
from petstore.models.domain_tokens import TURN_MS, DomainToken
from petstore.models.domains import Domain
from petstore.models.projects import Plan, Project
from tests.clocks import Clock
from tests.crowds import at_once
from tests.hosts.dns_server import DnsServer
from tests.hosts.fixtures import BASE

NAME = "shop.example.org"
SILENT_SECONDS = 10
Silence = Callable[[Domain], None]


@pytest.fixture
def domain(project: Project, nameserver: DnsServer) -> Domain:
    nameserver.put(NAME, "CNAME", f"shelter.{BASE}")
    return Domain.add(project, NAME)


@pytest.fixture
def silent(
    nameserver: DnsServer, inspection: Inspection, monkeypatch: pytest.MonkeyPatch
) -> Iterator[threading.Event]:
    """An event; until it is set, names below silent.example.org get no answer."""
    heard = threading.Event()

    def twist(answer: dns.message.Message, _is_tcp: bool) -> dns.message.Message:
        if "silent" in answer.question[0].name.to_text():
            heard.wait(SILENT_SECONDS)
        return answer

    monkeypatch.setattr(inspections, "WAIT_SECONDS", 0.1)
    nameserver.twist = twist
    yield heard
    heard.set()
    inspection.wait()


def silent_domain(number: int = 0) -> Domain:
    """Return a domain that DNS does not answer for, of a new project."""
    project = Project.add(f"Silent {number}", None, Plan("pro"))
    return Domain.add(project, f"n{number}.silent.example.org")


@pytest.mark.usefixtures("silent")
def test_silent_domains_of_others_do_not_block_verification(
    inspection: Inspection, domain: Domain, monkeypatch: pytest.MonkeyPatch
):
    for number in range(MAX_VERIFYING - 1):
        assert inspection.verify(silent_domain(number)) is None
    monkeypatch.setattr(inspections, "WAIT_SECONDS", SILENT_SECONDS / 2)
    assert inspection.verify(domain)


def test_all_who_wait_get_their_results(
    inspection: Inspection, monkeypatch: pytest.MonkeyPatch
):
    all_asked = threading.Barrier(MAX_VERIFYING, timeout=SILENT_SECONDS)

    def check_dns(_domain: Domain) -> DnsResult:
        all_asked.wait()
        return DnsResult(is_proved=False, text="not there yet")

    monkeypatch.setattr(inspection, "_check_dns", check_dns)
    monkeypatch.setattr(inspections, "WAIT_SECONDS", SILENT_SECONDS)
    domains = [silent_domain(number) for number in range(MAX_VERIFYING)]
    found = []
    at_once(lambda domain: found.append(inspection.verify(domain)), domains)
    assert found == [False] * MAX_VERIFYING


@pytest.mark.usefixtures("silent")
def test_project_verifies_one_domain_at_a_time(inspection: Inspection):
    asked = silent_domain()
    assert inspection.verify(asked) is None
    another = Domain.add(asked.project, NAME)
    with pytest.raises(Busy):
        inspection.verify(another)


def test_concurrent_attempts_get_one_turn(domain: Domain):
    begun = []
    at_once(lambda n: begun.append(DomainToken.begin_turn(n)), [domain.project_id] * 8)
    assert len([turn for turn in begun if turn]) == 1


def test_late_dns_answer_is_recorded(inspection: Inspection, silent: threading.Event):
    domain = silent_domain()
    assert inspection.verify(domain) is None
    silent.set()
    inspection.wait()
    assert "DNS does not know" in Domain.find(domain.project, domain.id).finding
    assert inspection.verify(domain) is False


def test_unexpected_error_ends_the_turn(
    inspection: Inspection, domain: Domain, monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as broken:
        broken.setattr(inspection, "_check_dns", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            inspection.verify(domain)
    assert inspection.verify(domain)


def test_abandoned_turn_expires(inspection: Inspection, domain: Domain, clock: Clock):
    DomainToken.begin_turn(domain.project_id)
    with pytest.raises(Busy):
        inspection.verify(domain)
    clock.move(seconds=TURN_MS / 1000)
    assert inspection.verify(domain)


def test_ending_an_expired_turn_keeps_the_next_one(domain: Domain, clock: Clock):
    late = DomainToken.begin_turn(domain.project_id)
    clock.move(seconds=TURN_MS / 1000)
    assert DomainToken.begin_turn(domain.project_id)
    DomainToken.end_turn(domain.project_id, late)
    assert DomainToken.begin_turn(domain.project_id) is None
