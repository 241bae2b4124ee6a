"""Cross-origin requests: what pages of other origins may send and read (CORS)."""

import pytest
from flask.testing import FlaskClient

from tests.harness.databases import of_one_engine

pytestmark = of_one_engine
PAGE = "https://app.example.org"
EXPOSED = (
    "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, "
    "RateLimit, RateLimit-Policy, Retry-After, Link, Location, "
    "Deprecation, Sunset, Idempotent-Replayed, X-Request-ID"
)
PREFLIGHT = {
    "Origin": PAGE,
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "authorization,content-type,idempotency-key",
}


def words(header: str) -> list[str]:
    return header.split(", ")


@pytest.fixture
def some_origins(environ: dict[str, str]) -> None:
    environ["PETSTORE_CORS_ORIGINS"] = f"{PAGE},http://localhost:3000"


def test_preflight_lists_allowed_methods_and_headers(stranger: FlaskClient):
    headers = stranger.options("/v1/pets", headers=PREFLIGHT).headers
    assert headers["Access-Control-Allow-Origin"] == "*"
    assert "POST" in words(headers["Access-Control-Allow-Methods"])
    allowed = words(headers["Access-Control-Allow-Headers"].lower())
    assert {"authorization", "content-type", "idempotency-key"} <= set(allowed)
    assert int(headers["Access-Control-Max-Age"]) > 0


def test_preflight_allows_to_correct_and_withdraw(stranger: FlaskClient):
    answer = stranger.options("/v1/pets/1", headers=PREFLIGHT)
    allowed = words(answer.headers["Access-Control-Allow-Methods"])
    assert {"PATCH", "DELETE"} <= set(allowed)
    assert "Content-Type" not in answer.headers


def test_what_no_page_has_sent_gets_no_cors_headers(client: FlaskClient):
    method = {"Access-Control-Request-Method": "POST"}
    for answer in (client.get("/v1/pets"), client.options("/v1/pets", headers=method)):
        assert "Access-Control" not in str(answer.headers)
        assert answer.headers["Vary"] == "Origin"


@pytest.mark.parametrize("path", ["/v1/pets", "/v1/pets/9", "/v1/cats"])
def test_any_origin_may_read_responses_and_headers(
    client: FlaskClient, stranger: FlaskClient, path: str
):
    for caller in (client, stranger):
        headers = caller.get(path, headers={"Origin": PAGE}).headers
        assert headers["Access-Control-Allow-Origin"] == "*"
        assert headers["Access-Control-Expose-Headers"] == EXPOSED
        assert headers["Vary"] == "Origin"
        assert "Access-Control-Allow-Credentials" not in headers


@pytest.mark.usefixtures("some_origins")
class TestConfiguredOrigins:
    @pytest.mark.parametrize("origin", [PAGE, "http://localhost:3000"])
    def test_listed_origin_is_allowed(self, client: FlaskClient, origin: str):
        for method in (client.get, client.options):
            headers = method("/v1/pets", headers=PREFLIGHT | {"Origin": origin}).headers
            assert headers["Access-Control-Allow-Origin"] == origin
            assert headers["Access-Control-Expose-Headers"] == EXPOSED
            assert headers["Vary"] == "Origin"

    def test_unlisted_origin_is_not_allowed(self, client: FlaskClient):
        evil = ["https://evil.example.org", f"{PAGE}.evil.org", f"{PAGE}:444"]
        for origin in (*evil, "null", "*"):
            headers = client.get("/v1/pets", headers={"Origin": origin}).headers
            assert "Access-Control-Allow-Origin" not in headers
            assert headers["Vary"] == "Origin"
