"""Cross-origin requests: what pages of other origins may send and read (CORS)."""

import pytest
from flask.testing import FlaskClient

from tests.harness.databases import of_one_engine

pytestmark = of_one_engine
PAGE = "https://app.example.org"
LISTED = (PAGE, "http://localhost:3000")
EXPOSED = (
    "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, "
    "RateLimit, RateLimit-Policy, Retry-After, Link, Location, "
    "Deprecation, Sunset, Idempotent-Replayed, X-Request-ID"
)
PREFLIGHT = {
    "Origin": PAGE,
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "authorization,traceparent,x-requested-with",
}


def words(header: str) -> set[str]:
    return set(header.lower().split(", "))


@pytest.mark.parametrize(
    ("path", "methods"), [("/v1/pets", {"post"}), ("/v1/pets/1", {"patch", "delete"})]
)
def test_preflight_lists_allowed_methods_and_headers(
    stranger: FlaskClient, path: str, methods: set[str]
):
    headers = stranger.options(path, headers=PREFLIGHT).headers
    assert headers["Access-Control-Allow-Origin"] == "*"
    assert methods <= words(headers["Access-Control-Allow-Methods"])
    # `*` lets a page send headers of its own, but never stands for Authorization.
    allowed = words(headers["Access-Control-Allow-Headers"])
    own = {"authorization", "content-type", "idempotency-key", "x-request-id"}
    assert allowed == own | {"*"}
    assert int(headers["Access-Control-Max-Age"]) > 0
    assert "Content-Type" not in headers


def test_what_no_page_has_sent_gets_no_cors_headers(client: FlaskClient):
    method = {"Access-Control-Request-Method": "POST"}
    for answer in (client.get("/v1/pets"), client.options("/v1/pets", headers=method)):
        assert "Access-Control" not in str(answer.headers)
        assert answer.headers["Vary"] == "Origin"


def test_any_origin_may_read_responses_and_headers(
    client: FlaskClient, stranger: FlaskClient
):
    for caller in (client, stranger):
        for path in ("/v1/pets", "/v1/pets/9", "/v1/cats"):
            headers = caller.get(path, headers={"Origin": PAGE}).headers
            assert headers["Access-Control-Allow-Origin"] == "*"
            assert headers["Access-Control-Expose-Headers"] == EXPOSED
            assert headers["Vary"] == "Origin"
            assert "Access-Control-Allow-Credentials" not in headers


class TestConfiguredOrigins:
    @pytest.fixture
    def environ(self, environ: dict[str, str]) -> dict[str, str]:
        return environ | {"PETSTORE_CORS_ORIGINS": ",".join(LISTED)}

    def test_only_listed_origins_are_allowed(self, client: FlaskClient):
        evil = ["https://evil.example.org", f"{PAGE}.evil.org", f"{PAGE}:444"]
        for origin in (*LISTED, *evil, "null", "*"):
            expected = (origin, EXPOSED) if origin in LISTED else (None, None)
            for method in (client.get, client.options):
                headers = method(
                    "/v1/pets", headers=PREFLIGHT | {"Origin": origin}
                ).headers
                allowed = headers.get("Access-Control-Allow-Origin")
                exposed = headers.get("Access-Control-Expose-Headers")
                assert (allowed, exposed) == expected
                assert headers["Vary"] == "Origin"
