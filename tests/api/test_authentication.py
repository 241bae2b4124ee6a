"""Who is calling: the bearer key (specification section 5)."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from petstore import clock as service_clock
from petstore.models.credentials import digest_of, new_key
from petstore.models.keys import Key
from petstore.models.projects import Project
from tests import statements
from tests.answers import error_of
from tests.clocks import Clock

PREFIX_LENGTH = 16
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


@pytest.mark.parametrize(("method", "path"), EVERYTHING)
def test_nothing_under_v1_answers_a_stranger(
    stranger: FlaskClient, method: str, path: str
):
    answer = stranger.open(path, method=method, data=b"{")
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="petstore"'
    assert answer.headers["X-RateLimit-Limit"] == "60"


@pytest.mark.parametrize(
    "sent",
    ["", "Bearer", "Bearer ", "Bearer    ", "Basic dXNlcjpwdw==", "{}", "Token {}"],
)
def test_without_a_bearer_key_the_key_is_missing(
    stranger: FlaskClient, key: str, sent: str
):
    answer = stranger.get("/v1/pets", headers={"Authorization": sent.format(key)})
    assert error_of(answer) == (401, "missing_api_key")
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="petstore"'


@pytest.mark.parametrize("sent", ["bearer {}", "BEARER {}", "Bearer  {}", "Bearer {} "])
def test_the_scheme_is_read_without_regard_to_case_and_spaces(
    stranger: FlaskClient, key: str, sent: str
):
    answer = stranger.get("/v1/pets", headers={"Authorization": sent.format(key)})
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "token",
    [
        "x",
        "pet_",
        "schl\xfcssel",
        "{0}x",
        '"{0}"',
        "{0} {0}",
        "{0},{0}",
        "{0}, Bearer {0}",
        "{0}\xa0",
        "{0}\x00",
        "x" * 7000,
    ],
)
def test_what_is_no_key_is_invalid(stranger: FlaskClient, key: str, token: str):
    sent = {"HTTP_AUTHORIZATION": f"Bearer {token.format(key)}"}
    answer = stranger.get("/v1/pets", environ_overrides=sent)
    assert error_of(answer) == (401, "invalid_api_key")
    challenge = 'Bearer realm="petstore", error="invalid_token"'
    assert answer.headers["WWW-Authenticate"] == challenge
    assert key not in answer.text


@pytest.mark.parametrize("spoil", [mistyped, str.lower, str.upper, lambda _: new_key()])
def test_a_key_that_was_never_issued_is_invalid(
    client_of: Callable, key: str, spoil: Callable
):
    answer = client_of(spoil(key)).get("/v1/pets")
    assert error_of(answer) == (401, "invalid_api_key")


def test_the_whole_key_has_to_be_right_not_only_its_prefix(
    client: FlaskClient, key: str
):
    Key.update(digest=digest_of(new_key())).execute()
    assert error_of(client.get("/v1/pets")) == (401, "invalid_api_key")


def test_a_mistyped_key_is_refused_without_a_look_up(client_of: Callable, key: str):
    with statements.recorded() as seen:
        client_of(mistyped(key)).get("/v1/pets")
    assert not [statement for statement in seen if "api_key" in statement.sql]


@pytest.mark.parametrize(
    "place",
    [
        {"query_string": {"api_key": "{}", "access_token": "{}"}},
        {"headers": {"X-API-Key": "{}"}},
        {"headers": {"Cookie": "api_key={}"}},
    ],
)
def test_a_key_is_taken_from_no_other_place(
    stranger: FlaskClient, key: str, place: dict
):
    [(kind, values)] = place.items()
    values = {name: value.format(key) for name, value in values.items()}
    answer = stranger.get("/v1/pets", **{kind: values})
    assert error_of(answer) == (401, "missing_api_key")


def test_a_revoked_key_stops_on_its_very_next_request(client: FlaskClient, key: str):
    assert client.get("/v1/pets").status_code == 200
    Key.by_prefix(key[:PREFIX_LENGTH]).revoke()
    assert error_of(client.get("/v1/pets")) == (401, "invalid_api_key")


def test_a_key_works_until_the_last_moment_before_its_expiry(
    client_of: Callable, project: Project, clock: Clock
):
    client = client_of(Key.issue(project, expires_ms=clock.now_ms + 1000))
    clock.move(seconds=0.999)
    assert client.get("/v1/pets").status_code == 200
    clock.move(seconds=0.001)
    assert error_of(client.get("/v1/pets")) == (401, "invalid_api_key")


def test_a_rotated_key_works_beside_the_new_one_until_its_grace_ends(
    client: FlaskClient, client_of: Callable, key: str, clock: Clock
):
    successor = client_of(Key.by_prefix(key[:PREFIX_LENGTH]).rotate(60))
    clock.move(seconds=59.999)
    assert client.get("/v1/pets").status_code == 200
    assert successor.get("/v1/pets").status_code == 200
    clock.move(seconds=0.001)
    assert error_of(client.get("/v1/pets")) == (401, "invalid_api_key")
    assert successor.get("/v1/pets").status_code == 200


def test_a_grace_of_none_ends_the_old_key_at_once(client: FlaskClient, key: str):
    Key.by_prefix(key[:PREFIX_LENGTH]).rotate(0)
    assert error_of(client.get("/v1/pets")) == (401, "invalid_api_key")


def test_a_grace_never_outlasts_the_key_s_own_expiry(
    client_of: Callable, project: Project, clock: Clock
):
    key = Key.issue(project, expires_ms=clock.now_ms + service_clock.MS_PER_MINUTE)
    Key.by_prefix(key[:PREFIX_LENGTH]).rotate(3600)
    clock.move(seconds=60)
    assert error_of(client_of(key).get("/v1/pets")) == (401, "invalid_api_key")


def test_a_rival_s_key_acts_for_the_rival_alone(
    client: FlaskClient, rival_client: FlaskClient
):
    rex = client.post("/v1/pets", json={"name": "Rex", "categoryId": 7}).json
    assert rival_client.get("/v1/pets").json == []
    assert error_of(rival_client.get(f"/v1/pets/{rex['id']}")) == (404, "not_found")


def test_only_a_digest_of_the_key_is_stored(key: str):
    [row] = Key.select().tuples()
    assert key[:PREFIX_LENGTH] in row
    assert key[PREFIX_LENGTH:] not in repr(row)
