"""Host routing: which project each host serves, redirects, and certificates."""

from urllib.parse import unquote
from wsgiref.util import setup_testing_defaults

import pytest
from flask.testing import FlaskClient
from werkzeug.test import run_wsgi_app

from petstore.extensions.hosting.models import Domain
from petstore.models.projects import Plan, Project
from tests.extensions.hosting.fixtures import BASE, NAME, Own
from tests.harness.answers import error_of
from tests.harness.databases import of_both_engines

PETS = "/v1/pets"
CERTIFICATE = f"/internal/tls-allowed?domain={NAME}"


def status(client: FlaskClient, host: str, path: str = "/v1/pets") -> int:
    return client.get(path, headers={"Host": host}).status_code


def test_base_domain_and_generated_subdomain_are_served(client: FlaskClient):
    for host in (
        *(BASE, f"shelter.{BASE}", f"SHELTER.{BASE.upper()}"),
        *(f"shelter.{BASE}.", f"shelter.{BASE}:8443"),
    ):
        assert status(client, host) == 200


def test_unknown_host_gets_421(client: FlaskClient, project: Project):
    Domain.add(project, NAME)  # and does not verify it
    for host in (
        *("localhost", "127.0.0.1:8000", "[::1]", f"nobody.{BASE}"),
        *(f"shelter.shelter.{BASE}", f"shelter-{BASE}", f"{BASE}.example.org"),
        *(NAME, "x" * 300, "a_b.example.org"),
    ):
        headers = {"Host": host, "X-Forwarded-Host": BASE}
        for path, method in (
            *(("/v1/pets", method) for method in ("GET", "OPTIONS", "POST", "DELETE")),
            *((path, "GET") for path in ("/v1/nothing", "/v2", "/dashboard/sign-in")),
        ):
            answer = client.open(path, method=method, headers=headers)
            assert answer.status_code == 421


def test_unknown_host_counts_for_nothing(stranger: FlaskClient, project: Project):
    for _ in range(2):
        answer = stranger.get("/v1/pets", headers={"Host": NAME})
        assert error_of(answer) == (421, "unknown_host")
        assert answer.headers["X-RateLimit-Remaining"] == "60"
        assert "q=60;" in answer.headers["RateLimit-Policy"]


def test_other_paths_are_served(
    stranger: FlaskClient, project: Project, shop: Domain, own: Own
):
    own(project, "old.example.org")
    paths = (
        *("/healthz", "/readyz", "/metrics", CERTIFICATE),
        *("/docs", "/openapi.json", "/favicon.ico"),
    )
    hosts = {BASE: 200, NAME: 200, "old.example.org": 301, "example.org": 421}
    for host, found in hosts.items():
        assert {status(stranger, host, path) for path in paths} == {200}
        assert status(stranger, host, "/") == found


def test_nobody_signs_in_under_a_shelters_name(stranger: FlaskClient, shop: Domain):
    for host in (NAME, f"shelter.{BASE}"):
        page = stranger.get("/", headers={"Host": f"{host}:8443"})
        assert f'<a href="http://{BASE}:8443/">' in page.text
        assert "API reference" in page.text
        assert "/dashboard" not in page.text


@of_both_engines
def test_host_of_a_deleted_project_ends_on_the_next_request(
    client: FlaskClient, project: Project, shop: Domain
):
    assert status(client, NAME) == 200
    project.mark_deleted()
    for host in (NAME, f"shelter.{BASE}"):
        assert status(client, host) == 421
    assert status(client, BASE, CERTIFICATE) == 404


@of_both_engines
def test_verified_domain_is_served(client: FlaskClient, project: Project, shop: Domain):
    assert status(client, "Shop.Example.org.:443") == 200
    project.change_plan(Plan("free"))
    assert status(client, NAME) == 421
    assert status(client, BASE, CERTIFICATE) == 404
    assert status(client, f"shelter.{BASE}") == 200
    project.change_plan(Plan("pro"))
    assert status(client, NAME) == status(client, BASE, CERTIFICATE) == 200
    shop.remove()
    assert status(client, NAME) == 421
    assert status(client, BASE, CERTIFICATE) == 404


def test_key_of_another_project_is_refused(rival_client: FlaskClient, shop: Domain):
    for host, left in ((f"shelter.{BASE}", "59"), (NAME, "58")):
        answer = rival_client.get("/v1/pets", headers={"Host": host})
        assert error_of(answer) == (401, "invalid_api_key")
        assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]
        assert answer.headers["X-RateLimit-Remaining"] == left
    home = rival_client.get("/v1/pets", headers={"Host": BASE})
    assert home.headers["X-RateLimit-Remaining"] == "999"


OLD = "old.example.org"


@pytest.fixture
def domains(project: Project, own: Own) -> list[Domain]:
    return [own(project, name) for name in (NAME, OLD)]


def location(client: FlaskClient, host: str, target: str = PETS, **environ: str):
    """Return where a request is led to that has the names of PEP 3333 alone."""
    path, _, query = target.partition("?")
    environ |= {"PATH_INFO": unquote(path, "latin-1"), "QUERY_STRING": query}
    environ |= client.environ_base | {"HTTP_HOST": host}
    setup_testing_defaults(environ)
    sent = {name: value for name, value in environ.items() if value != ""}
    return run_wsgi_app(client.application, sent)[2].get("Location")


def test_redirect_precedes_key_and_quota(stranger: FlaskClient, domains: list[Domain]):
    for _ in range(2):
        answer = stranger.post("/v1/pets", headers={"Host": OLD})
        assert answer.status_code == 301
        assert answer.headers["Location"] == f"http://{NAME}/v1/pets"
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["X-RateLimit-Remaining"] == "60"
        assert answer.data == b""


def test_path_and_query_are_kept(client: FlaskClient, domains: list[Domain]):
    for target in (
        "/v1/pets?limit=1&after=2",
        "/v1/a%3Fb%0D%0A%25%FC%C3%BC?x=%C3%BC+%20%zz%0D%0A",
        "/v1//pets",
        "//evil.example/v1?to=https://evil.example",
        "/~a:@!$&'()*+,;=",
        "/v1/pets?a='%3Cb%3E%22&c;",
    ):
        assert location(client, OLD, target) == f"http://{NAME}{target}"
    found = location(client, f"{OLD}:8443", **{"wsgi.url_scheme": "https"})
    assert found == f"https://{NAME}:8443/v1/pets"
    assert location(client, OLD, "") == f"http://{NAME}/"
    for target in ("*", ".evil.example/x", "@evil.example"):
        assert location(client, OLD, target) == f"http://{NAME}/{target}"
    assert location(client, OLD, SCRIPT_NAME="/a b") == f"http://{NAME}/a%20b/v1/pets"


@of_both_engines
def test_first_verified_domain_is_primary(
    client: FlaskClient, domains: list[Domain], rival: Project, own: Own
):
    _, chosen = (own(rival, f"{name}.example.com") for name in "ab")
    chosen.choose()
    first, second = domains
    assert location(client, NAME) is None
    second.choose()
    assert location(client, OLD) is None
    assert location(client, NAME) == f"http://{OLD}/v1/pets"
    first.choose()
    assert location(client, NAME) is None
    second.choose()
    second.remove()
    assert location(client, NAME) is None
    assert location(client, f"shelter.{BASE}") is None
    assert Domain.get_own(rival, chosen.id).is_primary


def allowed(client: FlaskClient, domain: str, **headers: str) -> int:
    path, query = "/internal/tls-allowed", {"domain": domain}
    return client.get(path, query_string=query, headers=headers).status_code


def test_served_hosts_are_allowed(stranger: FlaskClient, project: Project, own: Own):
    for name in (NAME, "old.example.org"):  # which redirects to the first
        own(project, name)
    Domain.add(project, "new.example.org")
    served = (BASE, f"shelter.{BASE}", NAME, "SHOP.example.org.", "old.example.org")
    for domain in served:
        assert allowed(stranger, domain) == 200
    others = (f"nobody.{BASE}", f"*.{BASE}", "new.example.org", "a\0b", "127.0.0.1")
    for domain in ("", *others, "ü.de"):
        assert allowed(stranger, domain) == 404


def test_proxied_request_and_one_of_another_network_are_refused(stranger: FlaskClient):
    assert allowed(stranger, BASE, **{"X-Forwarded-For": "192.0.2.1"}) == 404
    stranger.environ_base["REMOTE_ADDR"] = "192.0.2.1"
    assert allowed(stranger, BASE) == 404
