"""OPTIONS, HEAD and the methods that a path does not have."""

import pytest
from flask.testing import FlaskClient

from tests.core.api.conftest import REX
from tests.harness.answers import NOT_FOUND, error_of, seen
from tests.harness.databases import of_one_engine

pytestmark = of_one_engine
PREFLIGHT = {"Origin": "https://x.example", "Access-Control-Request-Method": "POST"}


@pytest.mark.parametrize(
    ("path", "methods", "other"),
    [
        ("/v1/pets", "GET, HEAD, OPTIONS, POST", "DELETE"),
        ("/v1/pets/1", "DELETE, GET, HEAD, OPTIONS, PATCH", "BREW"),
        ("/v1/store/orders", "GET, HEAD, OPTIONS, POST", "PUT"),
        ("/v1/store/orders/1", "DELETE, GET, HEAD, OPTIONS, PATCH", "TRACE"),
        ("/v1/categories", "GET, HEAD, OPTIONS", "POST"),
        ("/v1/categories/7", "DELETE, GET, HEAD, OPTIONS, PUT", "PATCH"),
    ],
)
def test_options_and_405_list_the_methods_of_a_path(
    client: FlaskClient, stranger: FlaskClient, path: str, methods: str, other: str
):
    options, refused = stranger.options(path), client.open(path, method=other)
    assert (options.status_code, options.data) == (204, b"")
    assert error_of(refused) == (405, "method_not_allowed")
    assert refused.json["message"].endswith(f" It takes {methods}.")
    assert options.headers["Allow"] == refused.headers["Allow"] == methods
    accepted = "application/json" if "PATCH" in methods else None
    assert options.headers.get("Accept-Patch") == accepted


def test_options_on_an_unknown_path_is_not_found(stranger: FlaskClient):
    for headers in ({}, PREFLIGHT):
        answer = stranger.options("/v1/cats", headers=headers)
        assert error_of(answer) == NOT_FOUND


def test_head_answers_like_get_without_the_body(client: FlaskClient, order: dict):
    client.post("/v1/pets", json=REX)  # for a Link header
    for path, status in (
        ("/v1/pets?limit=1", 200),
        ("/v1/pets/1", 200),
        ("/v1/store/orders/1", 200),
        ("/v1/pets/3", 404),
        ("/v1/categories/7", 200),
        ("/v1/categories/8", 404),
    ):
        got, head = (client.open(path, method=method) for method in ("GET", "HEAD"))
        assert (got.status_code, head.status_code, head.data) == (status, status, b"")
        assert seen(got)[2] == seen(head)[2]
        left = [int(each.headers["X-RateLimit-Remaining"]) for each in (got, head)]
        assert left[1] == left[0] - 1
