"""OPTIONS and HEAD on every path, and cross-origin requests (CORS)."""

import pytest
from flask.testing import FlaskClient

from petstore.quotas.stores.database import Usage
from tests.harness.answers import NOT_FOUND, error_of
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
METHODS = [
    ("/v1/pets", "GET, HEAD, OPTIONS, POST"),
    ("/v1/pets/1", "GET, HEAD, OPTIONS"),
    ("/v1/store/orders", "GET, HEAD, OPTIONS, POST"),
    ("/v1/store/orders/1", "GET, HEAD, OPTIONS, PATCH"),
    ("/v1/categories", "GET, HEAD, OPTIONS"),
    ("/v1/categories/1", "OPTIONS, PUT"),
]


def words(header: str) -> list[str]:
    return header.split(", ")


@pytest.fixture
def some_origins(environ: dict[str, str]) -> None:
    environ["PETSTORE_CORS_ORIGINS"] = f"{PAGE},http://localhost:3000"


@pytest.mark.parametrize(("path", "methods"), METHODS)
def test_options_lists_the_methods_without_a_key(
    stranger: FlaskClient, path: str, methods: str
):
    answer = stranger.options(path)
    assert answer.status_code == 204
    assert answer.headers["Allow"] == methods
    assert answer.data == b""


def test_options_on_an_unknown_path_is_not_found(stranger: FlaskClient):
    assert error_of(stranger.options("/v1/cats", headers=PREFLIGHT)) == NOT_FOUND


@pytest.mark.parametrize("headers", [{}, PREFLIGHT])
def test_options_does_not_count_against_the_quota(
    client: FlaskClient, stranger: FlaskClient, headers: dict
):
    for caller in (client, stranger):
        assert caller.options("/v1/pets", headers=headers).status_code == 204
    assert not Usage.select().exists()
    assert client.get("/v1/pets").headers["X-RateLimit-Remaining"] == "999"


def test_options_shows_the_rate_limit_of_the_address(stranger: FlaskClient):
    stranger.get("/v1/pets")
    answer = stranger.options("/v1/pets")
    assert answer.headers["X-RateLimit-Limit"] == "60"
    assert answer.headers["X-RateLimit-Remaining"] == "59"


def test_preflight_lists_allowed_methods_and_headers(stranger: FlaskClient):
    headers = stranger.options("/v1/pets", headers=PREFLIGHT).headers
    assert headers["Access-Control-Allow-Origin"] == "*"
    assert "POST" in words(headers["Access-Control-Allow-Methods"])
    allowed = words(headers["Access-Control-Allow-Headers"].lower())
    assert {"authorization", "content-type", "idempotency-key"} <= set(allowed)
    assert int(headers["Access-Control-Max-Age"]) > 0


def test_plain_options_gets_no_preflight_headers(stranger: FlaskClient):
    headers = stranger.options("/v1/pets").headers
    assert "Access-Control-Allow-Methods" not in headers


@pytest.mark.parametrize("path", ["/v1/pets", "/v1/pets/9", "/v1/cats"])
def test_any_origin_may_read_responses_and_headers(client: FlaskClient, path: str):
    headers = client.get(path, headers={"Origin": PAGE}).headers
    assert headers["Access-Control-Allow-Origin"] == "*"
    assert headers["Access-Control-Expose-Headers"] == EXPOSED
    assert "Access-Control-Allow-Credentials" not in headers


def test_any_origin_may_read_a_401_response(stranger: FlaskClient):
    answer = stranger.get("/v1/pets", headers={"Origin": PAGE})
    assert answer.status_code == 401
    assert answer.headers["Access-Control-Allow-Origin"] == "*"


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

    def test_request_without_an_origin_is_served(self, client: FlaskClient):
        answer = client.get("/v1/pets")
        assert answer.status_code == 200
        assert "Access-Control-Allow-Origin" not in answer.headers


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1/pets/2", 404),
        ("/v1/categories/7", 405),
    ],
)
def test_head_answers_like_get_without_the_body(
    client: FlaskClient, path: str, status: int
):
    client.post("/v1/pets", json={"name": "Rex", "categoryId": 7})
    got, head = client.get(path), client.head(path)
    assert (got.status_code, head.status_code) == (status, status)
    assert head.data == b""
    for name in ("Content-Type", "Content-Length", "Link", "Deprecation", "Allow"):
        assert head.headers.get(name) == got.headers.get(name)


def test_head_needs_a_key(stranger: FlaskClient):
    answer = stranger.head("/v1/pets")
    assert answer.status_code == 401
    assert answer.headers["X-RateLimit-Remaining"] == "59"
