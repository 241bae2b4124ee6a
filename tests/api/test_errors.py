"""Error responses: status, Error body and headers (specification section 7)."""

from types import ModuleType

import pytest
from flask.testing import FlaskClient

from petstore.error_handlers import FAILURES
from petstore.models import Conflict, Refused, orders, pets, replies
from petstore.models.pets import Pet, PetTable
from tests.answers import RATE_LIMIT_HEADERS, error_of

REX = {"name": "Rex", "categoryId": 7}


@pytest.mark.parametrize(
    "path", ["/v1", "/v1/", "/v1/nowhere", "/v1/pets/1", "/v1/pets/x", "/v1/store"]
)
def test_missing_resource_is_not_found(client: FlaskClient, path: str):
    assert error_of(client.get(path)) == (404, "not_found")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/v1/pets", "GET, HEAD, OPTIONS, POST"),
        ("PATCH", "/v1/pets", "GET, HEAD, OPTIONS, POST"),
        ("TRACE", "/v1/pets", "GET, HEAD, OPTIONS, POST"),
        ("POST", "/v1/pets/1", "GET, HEAD, OPTIONS"),
        ("PUT", "/v1/pets/1", "GET, HEAD, OPTIONS"),
        ("BREW", "/v1/pets/1", "GET, HEAD, OPTIONS"),
    ],
)
def test_unsupported_method_gets_the_allowed_methods(
    client: FlaskClient, method: str, path: str, allowed: str
):
    answer = client.open(path, method=method)
    assert error_of(answer) == (405, "method_not_allowed")
    assert answer.headers["Allow"] == allowed


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Content-Type": ""},
        {"Content-Type": "text/plain"},
        {"Content-Type": "text/json"},
        {"Content-Type": "application/jsonp"},
        {"Content-Type": "application/problem+json"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "multipart/form-data; boundary=x"},
        {"Content-Type": "application/json", "Content-Encoding": "gzip"},
    ],
)
def test_body_other_than_json_is_an_unsupported_media_type(
    client: FlaskClient, headers: dict
):
    body = b'{"name": "Rex", "categoryId": 7}'
    answer = client.post("/v1/pets", data=body, headers=headers)
    assert error_of(answer) == (415, "unsupported_media_type")
    assert not PetTable.select().exists()


def test_oversized_body_is_refused(client: FlaskClient):
    answer = client.post("/v1/pets", json=REX | {"x": "x" * 65_536})
    assert error_of(answer) == (413, "body_too_large")


def test_message_names_every_invalid_member(client: FlaskClient):
    answer = client.post(
        "/v1/pets", json={"name": 1, "status": "lost", "colour": "red"}
    )
    assert error_of(answer) == (400, "invalid_request")
    named = {fault.split(": ")[0] for fault in answer.json["message"].split("; ")}
    assert named == {"name", "categoryId", "status", "colour"}


def test_long_list_of_errors_is_truncated(client: FlaskClient):
    answer = client.post("/v1/pets", json={"x" * 50 + str(n): 1 for n in range(1000)})
    assert error_of(answer) == (400, "invalid_request")
    assert len(answer.data) < 3000
    assert answer.json["message"].endswith("and 982 more")


def test_long_member_name_is_truncated_in_the_message(client: FlaskClient):
    answer = client.post("/v1/pets", json=REX | {"x" * 60_000: 1})
    assert error_of(answer) == (400, "invalid_request")
    assert len(answer.data) < 300


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("the secret of the house")

    monkeypatch.setattr(Pet, "find", fail)


@pytest.mark.usefixtures("broken")
def test_internal_error_discloses_no_details(client: FlaskClient):
    answer = client.get("/v1/pets/1")
    assert error_of(answer) == (500, "internal_error")
    for word in ("Traceback", "ZeroDivisionError", "secret", ".py"):
        assert word not in answer.text
    assert answer.headers["X-Request-ID"] in answer.json["message"]
    assert "Sunset" in answer.headers


@pytest.mark.usefixtures("broken")
def test_internal_error_is_logged_with_its_traceback(
    client: FlaskClient, caplog: pytest.LogCaptureFixture
):
    client.get("/v1/pets/1")
    assert "Traceback" in caplog.text
    assert "the secret of the house" in caplog.text


@pytest.mark.usefixtures("broken")
def test_request_after_an_internal_error_is_served(client: FlaskClient):
    client.get("/v1/pets/1")
    assert client.get("/v1/pets").status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/pets", 200),
        ("GET", "/v1/pets?limit=0", 400),
        ("GET", "/v1/nowhere", 404),
        ("PUT", "/v1/pets", 405),
        ("POST", "/v1/pets", 415),
    ],
)
def test_every_response_shows_and_uses_the_quota(
    client: FlaskClient, method: str, path: str, status: int
):
    answer = client.open(path, method=method)
    assert answer.status_code == status
    assert set(answer.headers.keys()) >= RATE_LIMIT_HEADERS
    assert answer.headers["X-RateLimit-Limit"] == "1000"
    assert answer.headers["X-RateLimit-Remaining"] == "999"


@pytest.mark.parametrize("path", ["/v2/pets", "/V1/pets", "/favicon.ico"])
def test_path_outside_v1_has_no_rate_limit_headers(client: FlaskClient, path: str):
    answer = client.get(path)
    assert (answer.status_code, answer.json["code"]) == (404, "not_found")
    assert not RATE_LIMIT_HEADERS & set(answer.headers.keys())


@pytest.mark.parametrize("path", ["/v1/pets", "/v1/pets/1", "/v1/nowhere"])
def test_api_response_must_not_be_cached(client: FlaskClient, path: str):
    assert client.get(path).headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/pets"),
        ("OPTIONS", "/v1/pets"),
        ("DELETE", "/v1/pets"),
        ("GET", "/v1/nowhere"),
        ("POST", "/v1/pets"),
    ],
)
def test_api_response_forbids_content_type_sniffing(
    client: FlaskClient, method: str, path: str
):
    answer = client.open(path, method=method)
    assert answer.headers.getlist("X-Content-Type-Options") == ["nosniff"]


@pytest.mark.parametrize("module", [pets, orders, replies])
def test_every_refusal_of_the_models_has_a_failure_response(module: ModuleType):
    classes = [each for each in vars(module).values() if isinstance(each, type)]
    rules = {each for each in classes if issubclass(each, Refused)}
    assert rules - {Refused, Conflict} <= FAILURES.keys()
