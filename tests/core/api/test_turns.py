"""How much of one caller runs at once: the turns of addresses and of keys."""

from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient

from petstore.models.credentials import new_key
from petstore.models.grants import FULL_GRANT, PUBLIC, Grant
from petstore.models.keys import Key
from petstore.models.projects import Project
from petstore.web.turns import network_of, turns_of
from tests.harness.databases import of_one_engine
from tests.harness.turns import HERE, MOST, fill, is_free, key_id, nobody_waits

__all__ = ["key_id", "nobody_waits"]  # fixtures
FIGURES = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
pytestmark = [of_one_engine, pytest.mark.usefixtures("nobody_waits")]


def test_crowd_of_an_address_is_refused_as_an_error(app: Flask, stranger: FlaskClient):
    counted = stranger.get("/v1/pets").headers
    fill(app, HERE)
    headers = {"X-Request-ID": "crowd-1", "Origin": "https://a.example"}
    for _ in range(2):  # which have counted for nothing
        refused = stranger.get("/v1/pets", headers=headers)
        assert (refused.status_code, refused.json["status"]) == (503, 503)
        assert refused.json["code"] == "service_unavailable"
        assert refused.headers["Retry-After"] == "1"
        for name in (*FIGURES, "RateLimit"):
            assert refused.headers[name] == counted[name]
    sent = {"X-Request-ID": "crowd-1", "Cache-Control": "no-store"}
    sent |= {"X-Content-Type-Options": "nosniff", "Access-Control-Allow-Origin": "*"}
    assert sent.items() <= dict(refused.headers).items()
    for path in ("/healthz", "/readyz"):
        assert stranger.get(path).status_code == 200
    page = stranger.head("/dashboard")
    assert (page.status_code, page.mimetype) == (503, "application/json")
    assert page.data == b""
    assert "X-RateLimit-Limit" not in page.headers


def test_network_of_ipv6_is_one_caller(app: Flask, stranger: FlaskClient):
    fill(app, network_of("2001:db8::ffff:1"))
    for peer, status in (("2001:db8::1", 503), ("2001:db8:0:1::1", 200)):
        environ = {"REMOTE_ADDR": peer}
        answer = stranger.get("/", environ_base=environ)
        assert answer.status_code == status


def test_crowd_of_a_key_is_refused_before_it_is_counted(
    app: Flask, client: FlaskClient, rival_client: FlaskClient, key_id: int
):
    counted = client.get("/v1/pets").headers
    before = int(counted["X-RateLimit-Remaining"])
    fill(app, key_id)
    refused = client.get("/v1/pets")
    assert (refused.status_code, refused.json["code"]) == (503, "service_unavailable")
    for name in (*FIGURES, "RateLimit", "RateLimit-Policy"):
        assert refused.headers[name] == counted[name]
    assert is_free(app, HERE)
    assert rival_client.get("/v1/pets").status_code == 200
    for _ in range(MOST):
        turns_of(app).release(key_id)
    left = client.get("/v1/pets").headers["X-RateLimit-Remaining"]
    assert left == str(before - 1)


def test_key_that_is_refused_at_first_is_shown_its_windows_unused(
    app: Flask, client_of: Callable, project: Project
):
    for grant, policy in (
        (FULL_GRANT, '"minute";q=1000;w=60, "day";q=100000;w=86400'),
        (Grant(PUBLIC, 5, 50), '"key-minute";q=5;w=60, "key-day";q=50;w=86400'),
    ):
        key = Key.issue(project, grant)
        fill(app, Key.find_by_prefix(key[:16]).id)
        refused = client_of(key).get("/v1/pets")
        assert refused.status_code == 503
        assert refused.headers["RateLimit-Policy"] == policy


def test_claimed_key_uses_up_nothing_of_it(
    app: Flask, client_of: Callable[[str], FlaskClient], key: str, key_id: int
):
    fill(app, key_id)
    claimed = key[:16] + new_key()[16:]
    assert client_of(claimed).get("/v1/pets").status_code == 401
    fill(app, HERE)
    assert client_of(claimed).get("/v1/pets").status_code == 503


def test_turns_end_with_the_request(app: Flask, client: FlaskClient, key_id: int):
    for path in ("/v1/pets", "/v1/pets/0", "/v1/nothing"):
        client.get(path)
        assert is_free(app, HERE)
        assert is_free(app, key_id)
    app.testing = False
    app.before_request_funcs[None].insert(0, lambda: 1 / 0)
    with pytest.raises(AttributeError):  # even the answer to the bug fails
        client.get("/v1/pets")
    assert is_free(app, HERE)


def test_client_of_a_trusted_proxy_is_the_caller(
    environ: dict[str, str], request: pytest.FixtureRequest
):
    environ["PETSTORE_TRUSTED_PROXIES"] = "1"
    app, stranger = map(request.getfixturevalue, ("app", "stranger"))
    fill(app, "192.0.2.1")
    for address, status in (("192.0.2.1", 503), ("192.0.2.2", 200)):
        forwarded = {"X-Forwarded-For": address}
        answer = stranger.get("/", headers=forwarded)
        assert answer.status_code == status
