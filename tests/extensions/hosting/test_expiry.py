"""What DNS proved ages: redirects end after a week, the domain after thirty days."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from petstore.extensions.hosting.models import DnsResult, Domain
from petstore.extensions.hosting.verifier import Verifier
from petstore.models.projects import Project
from tests.extensions.hosting.fixtures import BASE, NAME, Own
from tests.harness.clocks import Clock
from tests.harness.databases import of_both_engines
from tests.harness.dns_server import DnsServer

OTHER = "other.example.org"


@pytest.fixture
def recheck(verifier: Verifier, clock: Clock) -> Callable[..., None]:
    """A function that moves the clock, and checks what is due by then."""

    def recheck(**later: float) -> None:
        clock.move(**later)
        verifier.recheck_due()

    return recheck


def location(client: FlaskClient, host: str) -> str | None:
    return client.get("/v1/pets", headers={"Host": host}).headers.get("Location")


def statuses(client: FlaskClient) -> tuple[int, int]:
    """Return whether the domain is served, and whether it may have a certificate."""
    asked = f"/internal/tls-allowed?domain={NAME}"
    return (
        client.get("/v1/pets", headers={"Host": NAME}).status_code,
        client.get(asked, headers={"Host": BASE}).status_code,
    )


@of_both_engines
def test_misdirected_domain_is_the_target_of_redirects_for_a_week(
    client: FlaskClient, shop: Domain, project: Project, own: Own, clock: Clock
):
    own(project, OTHER)
    shop.choose()
    shop.record(DnsResult(False, "elsewhere"))
    clock.move(days=6.99)
    assert location(client, OTHER) == f"http://{NAME}/v1/pets"
    clock.move(days=0.01)
    assert location(client, OTHER) is None
    assert location(client, NAME) == f"http://{OTHER}/v1/pets"
    shop.record(DnsResult(True, "back"))
    assert location(client, OTHER) == f"http://{NAME}/v1/pets"


@of_both_engines
def test_misdirected_domain_is_served_for_thirty_days_and_once_it_is_verified_again(
    client: FlaskClient,
    shop: Domain,
    verifier: Verifier,
    nameserver: DnsServer,
    clock: Clock,
    capfd: pytest.CaptureFixture,
):
    shop.record(DnsResult(False, "elsewhere"))
    assert Domain.get_own(shop.project, shop.id).state == "points elsewhere"
    clock.move(days=29.99)
    shop.record(DnsResult(False, "elsewhere"))
    assert statuses(client) == (200, 200)
    clock.move(days=0.01)
    assert statuses(client) == (421, 404)
    assert Domain.get_own(shop.project, shop.id).state == "expired"
    nameserver.put(NAME, "CNAME", f"shelter.{BASE}")
    capfd.readouterr()
    assert verifier.verify(shop)
    assert statuses(client) == (200, 200)
    assert '"event":"domain_verified"' in capfd.readouterr().out


@of_both_engines
def test_expired_domain_is_reported_once_and_checked_once_more(
    client: FlaskClient,
    recheck: Callable[..., None],
    shop: Domain,
    nameserver: DnsServer,
    capfd: pytest.CaptureFixture,
):
    for days in (1, 29, 1, 1, 1):
        recheck(days=days)
    assert statuses(client) == (421, 404)
    assert capfd.readouterr().out.count('"event":"domain_expired"') == 1
    assert nameserver.queries.count((NAME, "CNAME")) == 3  # then by its owner alone


def test_dns_that_does_not_answer_says_nothing(
    recheck: Callable[..., None],
    set_limits: Callable[..., None],
    project: Project,
    shop: Domain,
    own: Own,
    nameserver: DnsServer,
):
    apex = own(project, "example.org")
    nameserver.put("example.org", "A", "192.0.2.1")  # and the target has none
    recheck(days=1)
    assert "only the operators" in Domain.get_own(project, apex.id).finding
    assert Domain.get_own(project, apex.id).misdirected_since_ms is None
    nameserver.put(NAME, "CNAME", f"shelter.{BASE}")
    recheck(days=1)
    set_limits(dns_seconds=0.1)
    nameserver.is_silent = True
    recheck(days=1)
    found = Domain.get_own(project, shop.id)
    assert "not resolved in time" in found.finding
    assert found.state == "verified"
