"""Headers that every answer has, whatever its path, status and type."""

import pytest
from flask.testing import FlaskClient

from tests.extensions.hosting.fixtures import BASE, NAME

PATHS = ["/", "/nowhere", "/docs", "/openapi.json", "/healthz", "/metrics"]
PATHS += ["/v1/pets", "/v1/pets?limit=0", "/v1//pets"]
PATHS += ["/dashboard", "/dashboard/sign-in"]
FROM_PROXY = {"X-Forwarded-Proto": "https"}


@pytest.fixture
def environ(environ: dict[str, str], request: pytest.FixtureRequest) -> dict[str, str]:
    """Settings with as many trusted proxies as the test asks for."""
    return environ | {"PETSTORE_TRUSTED_PROXIES": str(getattr(request, "param", 0))}


@pytest.mark.parametrize("path", PATHS)
def test_each_answer_has_an_id_a_type_and_no_cache(client: FlaskClient, path: str):
    headers = client.get(path).headers
    assert headers.getlist("X-Content-Type-Options") == ["nosniff"]
    assert headers.getlist("Cache-Control") == ["no-store"]
    assert len(headers.getlist("X-Request-ID")) == 1
    kind, _, encoding = headers["Content-Type"].partition("; ")
    assert kind in ("application/json", "text/html", "text/plain")
    # That of JSON is always UTF-8 (RFC 8259).
    assert ("charset=utf-8" in encoding) is (kind != "application/json")


@pytest.mark.parametrize(
    ("environ", "sent", "is_forbidden"),
    [(1, FROM_PROXY, True), (0, FROM_PROXY, False), (1, {}, False)],
    indirect=["environ"],
)
def test_tls_gets_hsts(stranger: FlaskClient, sent: dict[str, str], is_forbidden: bool):
    for path in PATHS:
        told = stranger.get(path, headers=sent).headers
        found = told.getlist("Strict-Transport-Security")
        assert found == ["max-age=31536000"] * is_forbidden


@pytest.mark.usefixtures("hosts", "shop")
@pytest.mark.parametrize("environ", [1], indirect=True)
@pytest.mark.parametrize(
    ("host", "is_ours"),
    [
        *((BASE, True), (f"Shelter.{BASE.upper()}.:8", True)),
        *((f"{NAME}:443", False), (f"evil-{BASE}", False)),
    ],
)
@pytest.mark.parametrize("path", ["/v1/pets", "/docs", "/dashboard", "/healthz"])
def test_only_ours_get_hsts(stranger: FlaskClient, host: str, is_ours: bool, path: str):
    headers = stranger.get(path, headers=FROM_PROXY | {"Host": host}).headers
    assert ("Strict-Transport-Security" in headers) is is_ours
