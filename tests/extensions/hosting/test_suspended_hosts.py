"""The hosts of a suspended project: refused, without certificates, not checked."""

import pytest
from flask.testing import FlaskClient

from petstore.extensions.hosting.models import Certificate, DnsResult, Domain
from petstore.extensions.hosting.verifier import Verifier
from petstore.models import NotFound
from petstore.models.projects import Project
from petstore.upkeep.projects import set_suspended
from tests.extensions.hosting.fixtures import BASE, NAME, Own
from tests.harness.answers import error_of
from tests.harness.clocks import Clock
from tests.harness.databases import of_both_engines
from tests.harness.dns_server import DnsServer

SUSPENDED = (403, "project_suspended")
OLD = "old.example.org"
HOSTS = (f"shelter.{BASE}", NAME, OLD)  # the last one redirects to that before


@pytest.fixture
def suspended(project: Project, shop: Domain, own: Own) -> Project:
    own(project, OLD)
    set_suspended(project, True)
    return project


def is_allowed(client: FlaskClient, name: str) -> bool:
    answer = client.get("/internal/tls-allowed", query_string={"domain": name})
    return client.get("/healthz").status_code == answer.status_code


@of_both_engines
def test_own_hosts_answer_403_and_get_no_certificate_until_it_is_resumed(
    stranger: FlaskClient, suspended: Project
):
    for host in HOSTS:
        headers = {"Host": host}
        assert error_of(stranger.get("/v1/pets", headers=headers)) == SUSPENDED
        for path in ("/", "/dashboard", "/nothing"):
            assert stranger.get(path, headers=headers).status_code == 403
        for path in ("/docs", "/healthz"):  # which every host serves
            assert stranger.get(path, headers=headers).status_code == 200
        assert not is_allowed(stranger, host)
    set_suspended(suspended, False)
    found = [stranger.get("/v1/pets", headers={"Host": host}) for host in HOSTS]
    assert [answer.status_code for answer in found] == [401, 401, 301]
    assert all(is_allowed(stranger, host) for host in HOSTS)


@pytest.mark.usefixtures("suspended")
def test_a_request_to_an_own_host_is_counted_for_the_key_or_the_address(
    client: FlaskClient, rival_client: FlaskClient, stranger: FlaskClient
):
    before = {}
    for host in (BASE, *HOSTS):
        for each in (client, rival_client, stranger):
            answer = each.get("/v1/pets", headers={"Host": host})
            left = int(answer.headers["X-RateLimit-Remaining"])
            if each is client or host != BASE:
                assert error_of(answer) == SUSPENDED
            if each is client:
                assert left == before.get(each, left + 1) - 1
            before[each] = left
    assert before[stranger] == before[rival_client] - 1  # of one address


@of_both_engines
def test_domains_are_not_checked_before_it_is_resumed(
    suspended: Project, verifier: Verifier, nameserver: DnsServer, clock: Clock
):
    clock.move(days=40)
    verifier.recheck_due()
    assert nameserver.queries == []
    [*states] = (domain.state for domain in Domain.all_by_name(suspended))
    assert states == ["suspended", "suspended"]
    set_suspended(suspended, False)
    verifier.recheck_due()
    assert {name for name, _ in nameserver.queries} == {NAME, OLD}


def test_a_check_that_was_under_way_changes_nothing(suspended: Project, shop: Domain):
    with pytest.raises(NotFound):
        shop.record(DnsResult(False, "elsewhere"))
    shop.record_certificate(Certificate(fault="The proxy has no certificate yet."))
    [domain] = [each for each in Domain.all_by_name(suspended) if each.id == shop.id]
    assert domain.misdirected_since_ms is domain.certificate_fault is None


@of_both_engines
def test_another_project_takes_a_domain_over_by_proving_it(
    rival_client: FlaskClient, rival: Project, suspended: Project, own: Own
):
    own(rival, NAME)
    set_suspended(suspended, False)
    answer = rival_client.get("/v1/pets", headers={"Host": NAME})
    assert (answer.status_code, answer.json) == (200, [])
    assert {d.name: d.state for d in Domain.all_by_name(suspended)} == {
        NAME: "taken over",
        OLD: "verified",
    }
