"""/internal/tls-allowed: for which hosts the proxy may get a certificate."""

import pytest
from flask.testing import FlaskClient

from petstore.models.domains import Domain
from petstore.models.projects import Plan, Project
from tests.domains.test_hosts import Own
from tests.hosts.fixtures import BASE


def status(client: FlaskClient, domain: str, **headers: str) -> int:
    query = {"domain": domain}
    return client.get(
        "/internal/tls-allowed", query_string=query, headers=headers
    ).status_code


@pytest.mark.parametrize(
    "domain", [BASE, f"shelter.{BASE}", "shop.example.org", "SHOP.example.org."]
)
def test_a_host_that_is_served_may_have_a_certificate(
    stranger: FlaskClient, project: Project, own: Own, domain: str
):
    own(project, "shop.example.org")
    assert status(stranger, domain) == 200


@pytest.mark.parametrize(
    "domain",
    ["", f"nobody.{BASE}", f"*.{BASE}", "new.example.org", "a\0b", "127.0.0.1", "ü.de"],
)
def test_any_other_host_may_not(stranger: FlaskClient, project: Project, domain: str):
    Domain.add(project, "new.example.org")
    assert status(stranger, domain) == 404


def test_a_redirecting_domain_may_have_one_too(
    stranger: FlaskClient, project: Project, own: Own
):
    own(project, "shop.example.org")
    own(project, "old.example.org")
    assert status(stranger, "old.example.org") == 200


def test_a_removed_domain_may_not(stranger: FlaskClient, project: Project, own: Own):
    own(project, "shop.example.org").remove()
    assert status(stranger, "shop.example.org") == 404


def test_a_domain_of_a_free_project_may_not(
    stranger: FlaskClient, project: Project, own: Own
):
    own(project, "shop.example.org")
    project.change_plan(Plan("free"))
    assert status(stranger, "shop.example.org") == 404
    assert status(stranger, f"shelter.{BASE}") == 200


def test_nobody_asks_through_a_proxy(stranger: FlaskClient):
    answer = status(stranger, BASE, **{"X-Forwarded-For": "192.0.2.1"})
    assert answer == 404


def test_no_key_is_needed_and_nothing_is_counted(stranger: FlaskClient):
    headers = stranger.get(f"/internal/tls-allowed?domain={BASE}").headers
    assert "X-RateLimit-Remaining" not in headers
