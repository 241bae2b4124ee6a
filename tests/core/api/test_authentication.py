"""Authentication with a bearer key (specification section 5)."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from petstore.models.credentials import digest_of, new_key
from petstore.models.keys import Key
from petstore.models.projects import Project
from tests.harness.answers import error_of, errors_of
from tests.harness.clocks import Clock
from tests.harness.databases import of_one_engine

PREFIX_LENGTH = 16
MISSING, WRONG = (401, "missing_api_key"), (401, "invalid_api_key")
CHALLENGE = 'Bearer realm="petstore"'


@of_one_engine
@pytest.mark.parametrize("path", ["/v1/pets", "/v1/pets/1", "/v1/nowhere", "/v1"])
def test_every_path_under_v1_requires_a_key(stranger: FlaskClient, path: str):
    for method in ("GET", "HEAD", "POST", "DELETE"):
        answer = stranger.open(path, method=method, data=b"{")
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"] == CHALLENGE
        assert answer.headers["X-RateLimit-Limit"] == "60"


@of_one_engine
def test_request_without_a_bearer_key_gets_missing_api_key(
    stranger: FlaskClient, key: str
):
    def send(sent: str) -> TestResponse:
        return stranger.get("/v1/pets", headers={"Authorization": sent})

    sent = ["", "Bearer", "Bearer    ", "Basic dXNlcjpwdw==", key, f"Token {key}"]
    assert errors_of(send, sent) == dict.fromkeys(sent, MISSING)
    for elsewhere in (
        {"query_string": {"api_key": key, "access_token": key}},
        {"headers": {"X-API-Key": key, "Cookie": f"api_key={key}"}},
    ):
        assert error_of(stranger.get("/v1/pets", **elsewhere)) == MISSING


@of_one_engine
def test_scheme_ignores_case_and_extra_spaces(stranger: FlaskClient, key: str):
    for sent in (f"bearer {key}", f"BEARER {key}", f"Bearer  {key}", f"Bearer {key} "):
        answer = stranger.get("/v1/pets", headers={"Authorization": sent})
        assert answer.status_code == 200


@of_one_engine
def test_malformed_or_unknown_key_is_invalid(stranger: FlaskClient, key: str):
    def send(token: str) -> TestResponse:
        sent = {"HTTP_AUTHORIZATION": f"Bearer {token}"}
        answer = stranger.get("/v1/pets", environ_overrides=sent)
        challenge = f'{CHALLENGE}, error="invalid_token"'
        assert answer.headers["WWW-Authenticate"] == challenge
        assert key not in answer.text
        return answer

    mistyped = key[:-20] + ("a" if key[-20] != "a" else "b") + key[-19:]
    tokens = [
        *["x", "pet_", new_key(), "schl\xfcssel", "x" * 7000, f"{key}x", f'"{key}"'],
        *[f"{key} {key}", f"{key},{key}", f"{key}, Bearer {key}", f"{key}\xa0"],
        *[f"{key}\x00", mistyped, key.lower(), key.upper()],
    ]
    assert errors_of(send, tokens) == dict.fromkeys(tokens, WRONG)


def test_only_a_digest_of_the_key_is_stored_and_it_has_to_match(
    client: FlaskClient, key: str
):
    [row] = Key.select().tuples()
    assert key[:PREFIX_LENGTH] in row
    assert key[PREFIX_LENGTH:] not in repr(row)
    Key.update(digest=digest_of(new_key())).execute()
    assert error_of(client.get("/v1/pets")) == WRONG


@pytest.mark.parametrize(
    ("expires", "grace", "ends"), [(60, None, 60), (None, 60, 60), (60, 3600, 60)]
)
def test_key_works_until_its_exact_expiry_or_the_end_of_its_grace_period(
    client_of: Callable,
    project: Project,
    clock: Clock,
    expires: int | None,
    grace: int | None,
    ends: int,
):
    key = Key.issue(project, expires_ms=expires and clock.now_ms + expires * 1000)
    successor = grace and Key.find_by_prefix(key[:PREFIX_LENGTH]).rotate(grace)
    clock.move(seconds=ends - 0.001)
    assert client_of(key).get("/v1/pets").status_code == 200
    clock.move(seconds=0.001)
    assert error_of(client_of(key).get("/v1/pets")) == WRONG
    if grace and not expires:
        assert client_of(successor).get("/v1/pets").status_code == 200
