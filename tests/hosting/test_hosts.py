"""Host routing: which project each host serves."""

import pytest
from flask.testing import FlaskClient

from petstore.models.domains import Domain
from petstore.models.projects import Plan, Project
from tests.harness.answers import error_of
from tests.harness.databases import of_one_engine
from tests.harness.host_fixtures import BASE, NAME, Own

CERTIFICATE = f"/internal/tls-allowed?domain={NAME}"


def status(client: FlaskClient, host: str, path: str = "/v1/pets") -> int:
    return client.get(path, headers={"Host": host}).status_code


@of_one_engine
@pytest.mark.parametrize(
    "host",
    [
        *(BASE, f"shelter.{BASE}", f"SHELTER.{BASE.upper()}"),
        *(f"shelter.{BASE}.", f"shelter.{BASE}:8443"),
    ],
)
def test_base_domain_and_generated_subdomain_are_served(client: FlaskClient, host: str):
    assert status(client, host) == 200


@of_one_engine
@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "127.0.0.1:8000", "[::1]", f"nobody.{BASE}"),
        *(f"shelter.shelter.{BASE}", f"shelter-{BASE}", f"{BASE}.example.org"),
        *(NAME, "x" * 300, "a_b.example.org"),
    ],
)
def test_unknown_host_gets_421(client: FlaskClient, host: str):
    headers = {"Host": host, "X-Forwarded-Host": BASE}
    for path in ("/v1/pets", "/v1/nothing", "/v2"):
        for method in ("GET", "OPTIONS", "POST", "DELETE"):
            answer = client.open(path, method=method, headers=headers)
            assert (answer.status_code, answer.json["code"]) == (421, "unknown_host")


def test_unknown_host_is_not_counted_against_the_address(
    stranger: FlaskClient, project: Project
):
    for _ in range(2):
        answer = stranger.get("/v1/pets", headers={"Host": NAME})
        assert answer.headers["X-RateLimit-Remaining"] == "60"
        assert "q=60;" in answer.headers["RateLimit-Policy"]


@of_one_engine
@pytest.mark.parametrize(
    "path",
    ["/healthz", "/readyz", "/docs", "/openapi.json", "/metrics", CERTIFICATE],
)
def test_paths_outside_the_api_are_served_on_every_host(
    stranger: FlaskClient, project: Project, shop: Domain, own: Own, path: str
):
    own(project, "old.example.org")
    for host in (BASE, NAME, "old.example.org", "example.org"):
        assert status(stranger, host, path) == 200
        assert status(stranger, host, "/") == 303


def test_a_verified_domain_serves_its_project(client: FlaskClient, shop: Domain):
    assert status(client, "Shop.Example.org.:443") == 200


def test_unverified_domain_is_not_served(client: FlaskClient, project: Project):
    Domain.add(project, NAME)
    assert status(client, NAME) == 421


def test_key_of_another_project_is_refused_and_counted_against_the_address(
    rival_client: FlaskClient, shop: Domain
):
    for host, left in ((f"shelter.{BASE}", "59"), (NAME, "58")):
        answer = rival_client.get("/v1/pets", headers={"Host": host})
        assert error_of(answer) == (401, "invalid_api_key")
        assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]
        assert answer.headers["X-RateLimit-Remaining"] == left
    home = rival_client.get("/v1/pets", headers={"Host": BASE})
    assert home.headers["X-RateLimit-Remaining"] == "999"


def test_domains_are_not_served_while_the_plan_is_free(
    client: FlaskClient, project: Project, shop: Domain
):
    project.change_plan(Plan("free"))
    assert status(client, NAME) == 421
    assert status(client, BASE, CERTIFICATE) == 404
    assert status(client, f"shelter.{BASE}") == 200
    project.change_plan(Plan("pro"))
    assert status(client, NAME) == status(client, BASE, CERTIFICATE) == 200


def test_removed_domain_is_not_served(client: FlaskClient, shop: Domain):
    shop.remove()
    assert status(client, NAME) == 421
    assert status(client, BASE, CERTIFICATE) == 404
