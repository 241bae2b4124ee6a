"""What DNS proved ages: redirects end after a week, the domain after thirty days."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from petstore.hosting.verifier import Verifier
from petstore.models.domains import DnsResult, Domain
from petstore.models.projects import Project
from tests.harness.clocks import Clock
from tests.harness.dns_server import DnsServer
from tests.harness.host_fixtures import BASE, NAME, Own

OTHER = "other.example.org"
EXPIRED = '"event":"domain_expired"'


@pytest.fixture
def recheck(verifier: Verifier, clock: Clock) -> Callable[..., None]:
    """A function that moves the clock, and checks what is due by then."""

    def recheck(**later: float) -> None:
        clock.move(**later)
        verifier.recheck_due()

    return recheck


@pytest.fixture
def other(shop: Domain, project: Project, own: Own, nameserver: DnsServer) -> Domain:
    """Another domain of the project, which points here, while the first does not."""
    nameserver.put(OTHER, "CNAME", f"shelter.{BASE}")
    nameserver.put(NAME, "A", "192.0.2.1")
    return own(project, OTHER)


def location(client: FlaskClient, host: str) -> str | None:
    return client.get("/v1/pets", headers={"Host": host}).headers.get("Location")


def status(client: FlaskClient, path: str = "/v1/pets", host: str = NAME) -> int:
    return client.get(path, headers={"Host": host}).status_code


def allowed(client: FlaskClient) -> int:
    return status(client, f"/internal/tls-allowed?domain={NAME}", BASE)


def test_misdirected_domain_is_the_target_of_redirects_for_a_week(
    client: FlaskClient, shop: Domain, other: Domain, clock: Clock
):
    shop.choose()
    shop.record(DnsResult(False, "elsewhere"))
    clock.move(days=6.99)
    assert location(client, OTHER) == f"http://{NAME}/v1/pets"
    clock.move(days=0.01)
    assert location(client, OTHER) is None
    assert location(client, NAME) == f"http://{OTHER}/v1/pets"
    shop.record(DnsResult(True, "back"))
    assert location(client, OTHER) == f"http://{NAME}/v1/pets"


def test_misdirected_domain_is_served_for_thirty_days(
    client: FlaskClient, shop: Domain, clock: Clock
):
    shop.record(DnsResult(False, "elsewhere"))
    assert Domain.all_by_name(shop.project)[0].state == "points elsewhere"
    clock.move(days=29.99)
    shop.record(DnsResult(False, "elsewhere"))
    assert (status(client), allowed(client)) == (200, 200)
    clock.move(days=0.01)
    assert (status(client), allowed(client)) == (421, 404)
    assert Domain.all_by_name(shop.project)[0].state == "expired"


def test_expired_domain_is_served_once_it_is_verified_again(
    client: FlaskClient,
    shop: Domain,
    verifier: Verifier,
    nameserver: DnsServer,
    clock: Clock,
    capfd: pytest.CaptureFixture,
):
    shop.record(DnsResult(False, "elsewhere"))
    clock.move(days=30)
    nameserver.put(NAME, "CNAME", f"shelter.{BASE}")
    capfd.readouterr()
    assert verifier.verify(shop)
    assert (status(client), allowed(client)) == (200, 200)
    assert '"event":"domain_verified"' in capfd.readouterr().out


@pytest.mark.usefixtures("other")
def test_checks_from_time_to_time_notice_and_report_once(
    client: FlaskClient,
    recheck: Callable[..., None],
    shop: Domain,
    capfd: pytest.CaptureFixture,
):
    for _ in range(31):
        recheck(days=1)
    assert status(client) == 421
    assert capfd.readouterr().out.count(EXPIRED) == 1


def test_expired_domain_is_checked_once_more_and_then_by_its_owner_alone(
    recheck: Callable[..., None], other: Domain, shop: Domain, nameserver: DnsServer
):
    other.remove()
    for days in (1, 30, 1, 1):
        recheck(days=days)
    assert nameserver.queries.count((NAME, "CNAME")) == 2


def test_last_check_may_find_the_domain_right(
    recheck: Callable[..., None],
    client: FlaskClient,
    shop: Domain,
    nameserver: DnsServer,
    clock: Clock,
):
    recheck(days=1)
    nameserver.put(NAME, "CNAME", f"shelter.{BASE}")
    recheck(days=31)  # the service was stopped in between
    assert status(client) == 200


def test_dns_that_does_not_answer_says_nothing(
    recheck: Callable[..., None],
    set_limits: Callable[..., None],
    project: Project,
    shop: Domain,
    nameserver: DnsServer,
):
    set_limits(dns_seconds=0.1)
    nameserver.is_silent = True
    recheck(days=1)
    found = Domain.find(project, shop.id)
    assert "not resolved in time" in found.finding
    assert found.state == "verified"


def test_target_without_address_is_not_held_against_an_apex(
    recheck: Callable[..., None],
    project: Project,
    own: Own,
    nameserver: DnsServer,
):
    apex = own(project, "example.org")
    nameserver.put("example.org", "A", "192.0.2.1")
    recheck(days=1)
    assert "for the operators" in Domain.find(project, apex.id).finding
    assert Domain.find(project, apex.id).misdirected_since_ms is None
