"""Projects take turns in the checks from time to time."""

import threading
from collections.abc import Callable

import dns.message
import pytest

from petstore.hosting.verifier import Verifier
from petstore.models.domains import Domain
from petstore.models.projects import Plan, Project
from tests.harness.background import finish_background
from tests.harness.clocks import Clock
from tests.harness.dns_server import DnsServer
from tests.harness.host_fixtures import Own
from tests.harness.statements import recorded
from tests.harness.waiting import wait_until

MANY = 5
PRO = Plan("pro")
PATIENT_SECONDS = 60  # no hanging query may time out on a busy machine


@pytest.fixture
def environ(
    environ: dict[str, str],
    request: pytest.FixtureRequest,
    set_limits: Callable[..., None],
) -> dict[str, str]:
    """Let the service check as many domains at a time as the test asks for."""
    seconds = {"dns_seconds": PATIENT_SECONDS, "dns_server_seconds": PATIENT_SECONDS}
    set_limits(dns_checks=request.param, **seconds)
    return environ


@pytest.fixture
def many(rival: Project, own: Own) -> list[str]:
    """The names of many domains of the rival, which are due first."""
    return [own(rival, f"n{n}.example.org").name for n in range(MANY)]


def asked(nameserver: DnsServer) -> list[str]:
    return [name for name, kind in nameserver.queries if kind == "CNAME"]


@pytest.mark.parametrize("environ", [2], indirect=True)
def test_project_whose_checks_hang_takes_one_turn(
    many: list[str],
    project: Project,
    own: Own,
    verifier: Verifier,
    nameserver: DnsServer,
    clock: Clock,
):
    is_over = threading.Event()

    def twist(answer: dns.message.Message, _is_tcp: bool) -> None:
        if answer.question[0].name.to_text(True) in many:
            is_over.wait(PATIENT_SECONDS)

    nameserver.twist = twist
    others = [own(project, f"o{n}.example.org").name for n in range(MANY)]
    clock.move(days=1)

    def others_are_checked() -> bool:
        verifier.recheck_due()  # further rounds begin meanwhile
        return {many[0], *others} <= set(asked(nameserver))

    wait_until(others_are_checked, "others wait")
    assert asked(nameserver).count(many[0]) == 1
    assert many[1] not in asked(nameserver)
    is_over.set()
    finish_background(verifier)
    assert set(asked(nameserver)) == {*many, *others}


@pytest.mark.parametrize("environ", [2], indirect=True)
def test_worker_checks_only_so_many_domains_at_a_time(
    verifier: Verifier, own: Own, nameserver: DnsServer, clock: Clock
):
    is_over = threading.Event()
    nameserver.twist = lambda *_: is_over.wait(PATIENT_SECONDS)
    names = [
        own(Project.add(f"P{n}", None, PRO), f"p{n}.example.org") for n in range(MANY)
    ]
    clock.move(days=1)
    verifier.recheck_due()
    wait_until(lambda: len(nameserver.queries) == 2, "two are being checked")
    assert Domain.select().where(Domain.checked_ms == clock.now_ms).count() == 2
    is_over.set()
    finish_background(verifier)
    assert len(set(asked(nameserver))) == len(names)


@pytest.mark.parametrize("environ", [2], indirect=True)
def test_looking_for_a_due_domain_costs_the_same_among_many_projects(shop: Domain):
    with recorded() as seen:
        Domain.claim_due()
    [search] = seen
    before = search.cost()
    for number in range(50):
        Project.add(f"P{number}", None, PRO)
    assert search.cost() <= before
