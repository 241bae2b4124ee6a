"""Authentication with a bearer key (specification section 5)."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from petstore import clock as service_clock
from petstore.models.credentials import digest_of, new_key
from petstore.models.keys import Key
from petstore.models.projects import Project
from tests.harness.answers import error_of, errors_of
from tests.harness.clocks import Clock
from tests.harness.databases import of_one_engine

PREFIX_LENGTH = 16
MISSING, WRONG = (401, "missing_api_key"), (401, "invalid_api_key")
EVERYTHING = [
    ("GET", "/v1/pets"),
    ("HEAD", "/v1/pets"),
    ("POST", "/v1/pets"),
    ("GET", "/v1/pets/1"),
    ("DELETE", "/v1/pets"),
    ("GET", "/v1/nowhere"),
    ("GET", "/v1"),
]


def mistyped(key: str) -> str:
    return key[:-20] + ("a" if key[-20] != "a" else "b") + key[-19:]


@of_one_engine
@pytest.mark.parametrize(("method", "path"), EVERYTHING)
def test_every_path_under_v1_requires_a_key(
    stranger: FlaskClient, method: str, path: str
):
    answer = stranger.open(path, method=method, data=b"{")
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="petstore"'
    assert answer.headers["X-RateLimit-Limit"] == "60"


@of_one_engine
def test_request_without_a_bearer_key_gets_missing_api_key(
    stranger: FlaskClient, key: str
):
    def send(sent: str) -> TestResponse:
        return stranger.get("/v1/pets", headers={"Authorization": sent})

    sent = ["", "Bearer", "Bearer    ", "Basic dXNlcjpwdw==", key, f"Token {key}"]
    assert errors_of(send, sent) == dict.fromkeys(sent, MISSING)


@of_one_engine
@pytest.mark.parametrize("sent", ["bearer {}", "BEARER {}", "Bearer  {}", "Bearer {} "])
def test_scheme_ignores_case_and_extra_spaces(
    stranger: FlaskClient, key: str, sent: str
):
    answer = stranger.get("/v1/pets", headers={"Authorization": sent.format(key)})
    assert answer.status_code == 200


@of_one_engine
def test_malformed_or_unknown_key_is_invalid(stranger: FlaskClient, key: str):
    def send(token: str) -> TestResponse:
        sent = {"HTTP_AUTHORIZATION": f"Bearer {token}"}
        answer = stranger.get("/v1/pets", environ_overrides=sent)
        challenge = 'Bearer realm="petstore", error="invalid_token"'
        assert answer.headers["WWW-Authenticate"] == challenge
        assert key not in answer.text
        return answer

    tokens = [
        *["x", "pet_", new_key(), "schl\xfcssel", "x" * 7000, f"{key}x", f'"{key}"'],
        *[f"{key} {key}", f"{key},{key}", f"{key}, Bearer {key}", f"{key}\xa0"],
        *[f"{key}\x00", mistyped(key), key.lower(), key.upper()],
    ]
    assert errors_of(send, tokens) == dict.fromkeys(tokens, WRONG)


def test_key_with_only_a_matching_prefix_is_invalid(client: FlaskClient, key: str):
    Key.update(digest=digest_of(new_key())).execute()
    assert error_of(client.get("/v1/pets")) == WRONG


@of_one_engine
@pytest.mark.parametrize(
    "place",
    [
        {"query_string": {"api_key": "{}", "access_token": "{}"}},
        {"headers": {"X-API-Key": "{}"}},
        {"headers": {"Cookie": "api_key={}"}},
    ],
)
def test_key_outside_the_authorization_header_is_ignored(
    stranger: FlaskClient, key: str, place: dict
):
    [(kind, values)] = place.items()
    values = {name: value.format(key) for name, value in values.items()}
    answer = stranger.get("/v1/pets", **{kind: values})
    assert error_of(answer) == MISSING


def test_key_works_until_its_exact_expiry(
    client_of: Callable, project: Project, clock: Clock
):
    client = client_of(Key.issue(project, expires_ms=clock.now_ms + 1000))
    clock.move(seconds=0.999)
    assert client.get("/v1/pets").status_code == 200
    clock.move(seconds=0.001)
    assert error_of(client.get("/v1/pets")) == WRONG


def test_rotated_key_works_until_its_grace_period_ends(
    client: FlaskClient, client_of: Callable, key: str, clock: Clock
):
    successor = client_of(Key.by_prefix(key[:PREFIX_LENGTH]).rotate(60))
    clock.move(seconds=59.999)
    assert client.get("/v1/pets").status_code == 200
    assert successor.get("/v1/pets").status_code == 200
    clock.move(seconds=0.001)
    assert error_of(client.get("/v1/pets")) == WRONG
    assert successor.get("/v1/pets").status_code == 200


def test_grace_period_does_not_extend_the_expiry(
    client_of: Callable, project: Project, clock: Clock
):
    key = Key.issue(project, expires_ms=clock.now_ms + service_clock.MS_PER_MINUTE)
    Key.by_prefix(key[:PREFIX_LENGTH]).rotate(3600)
    clock.move(seconds=60)
    assert error_of(client_of(key).get("/v1/pets")) == WRONG


def test_only_a_digest_of_the_key_is_stored(key: str):
    [row] = Key.select().tuples()
    assert key[:PREFIX_LENGTH] in row
    assert key[PREFIX_LENGTH:] not in repr(row)
