"""Redirects from other domains to the primary one (specification section 1)."""

import pytest
from flask.testing import FlaskClient

from petstore.models.domains import Domain
from petstore.models.projects import Project
from tests.harness.databases import of_one_engine
from tests.harness.host_fixtures import BASE, NAME, Own


@pytest.fixture
def domains(project: Project, own: Own) -> list[Domain]:
    return [own(project, name) for name in (NAME, "old.example.org")]


def location(client: FlaskClient, host: str, path: str = "/v1/pets") -> str | None:
    return client.get(path, headers={"Host": host}).headers.get("Location")


def test_the_first_verified_domain_is_primary(
    client: FlaskClient, domains: list[Domain]
):
    assert location(client, NAME) is None
    assert location(client, "old.example.org") == f"http://{NAME}/v1/pets"


def test_redirect_is_a_301_with_no_store(client: FlaskClient, domains: list[Domain]):
    answer = client.get("/v1/pets", headers={"Host": "old.example.org"})
    assert answer.status_code == 301
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.data == b""


@of_one_engine
@pytest.mark.parametrize(
    "target",
    [
        "/v1/pets?limit=1&after=2",
        "/v1/p%65ts%2F?x=%C3%BC+%20%zz",
        "/v1//pets",
        "//evil.example/v1?to=https://evil.example",
        "/nothing",
        "/v1/pets?a='%3Cb%3E%22&c;",
    ],
)
@pytest.mark.parametrize("origin", ["", "http://evil.example"])
def test_path_and_query_are_kept_byte_for_byte(
    client: FlaskClient, domains: list[Domain], target: str, origin: str
):
    environ = {"RAW_URI": origin + target, "HTTP_HOST": "old.example.org"}
    answer = client.get("/v1", environ_overrides=environ)
    assert answer.headers["Location"] == f"http://shop.example.org{target}"


def test_scheme_and_port_are_kept(client: FlaskClient, domains: list[Domain]):
    environ = {"wsgi.url_scheme": "https", "HTTP_HOST": "old.example.org:8443"}
    answer = client.get("/v1/pets", environ_overrides=environ)
    assert answer.headers["Location"] == "https://shop.example.org:8443/v1/pets"


def test_redirect_precedes_authentication_and_quotas(
    stranger: FlaskClient, domains: list[Domain]
):
    for _ in range(2):
        answer = stranger.post("/v1/pets", headers={"Host": "old.example.org"})
        assert answer.status_code == 301
        assert answer.headers["X-RateLimit-Remaining"] == "60"


def test_primary_domain_can_be_changed(client: FlaskClient, domains: list[Domain]):
    domains[1].choose()
    assert location(client, "old.example.org") is None
    assert location(client, NAME) == "http://old.example.org/v1/pets"
    domains[0].choose()
    assert location(client, NAME) is None


def test_next_domain_serves_after_removal_of_the_primary(
    client: FlaskClient, domains: list[Domain]
):
    domains[1].choose()
    domains[1].remove()
    assert location(client, NAME) is None


def test_generated_subdomain_does_not_redirect(
    client: FlaskClient, domains: list[Domain]
):
    assert location(client, f"shelter.{BASE}") is None
