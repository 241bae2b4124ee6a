"""/internal/tls-allowed: for which hosts the proxy may get a certificate."""

import pytest
from flask.testing import FlaskClient

from petstore.models.domains import Domain
from petstore.models.projects import Project
from tests.harness.databases import of_one_engine
from tests.harness.host_fixtures import BASE, NAME, Own


def status(client: FlaskClient, domain: str, **headers: str) -> int:
    query = {"domain": domain}
    return client.get(
        "/internal/tls-allowed", query_string=query, headers=headers
    ).status_code


@of_one_engine
@pytest.mark.parametrize(
    "domain",
    [
        *(BASE, f"shelter.{BASE}", NAME, "SHOP.example.org."),
        "old.example.org",  # which redirects to the first
    ],
)
def test_served_host_is_allowed(
    stranger: FlaskClient, project: Project, own: Own, domain: str
):
    for name in (NAME, "old.example.org"):
        own(project, name)
    assert status(stranger, domain) == 200


@of_one_engine
@pytest.mark.parametrize(
    "domain",
    ["", f"nobody.{BASE}", f"*.{BASE}", "new.example.org", "a\0b", "127.0.0.1", "ü.de"],
)
def test_other_hosts_are_refused(stranger: FlaskClient, project: Project, domain: str):
    Domain.add(project, "new.example.org")
    assert status(stranger, domain) == 404


@of_one_engine
def test_proxied_request_and_one_of_another_network_are_refused(stranger: FlaskClient):
    assert status(stranger, BASE, **{"X-Forwarded-For": "192.0.2.1"}) == 404
    stranger.environ_base["REMOTE_ADDR"] = "192.0.2.1"
    assert status(stranger, BASE) == 404
