"""Error responses: status, Error body and headers (specification section 7)."""

import pytest
from flask.testing import FlaskClient

from petstore.errors import ERRORS
from petstore.models import RuleError
from petstore.models.pets import Pet
from tests.harness.answers import INVALID, RATE_LIMIT_HEADERS, error_of
from tests.harness.servers import ROOT

REX = {"name": "Rex", "categoryId": 7}


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """One engine is enough: both are asked for nothing that matters here."""
    return sqlite_url


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/v1/pets", "GET, HEAD, OPTIONS, POST"),
        ("BREW", "/v1/pets/1", "GET, HEAD, OPTIONS"),
        ("PUT", "/v1/store/orders", "GET, HEAD, OPTIONS, POST"),
        ("TRACE", "/v1/store/orders/1", "GET, HEAD, OPTIONS, PATCH"),
        ("POST", "/v1/categories", "GET, HEAD, OPTIONS"),
        ("GET", "/v1/categories/7", "OPTIONS, PUT"),
    ],
)
def test_unsupported_method_gets_the_allowed_methods(
    client: FlaskClient, method: str, path: str, allowed: str
):
    answer = client.open(path, method=method)
    assert error_of(answer) == (405, "method_not_allowed")
    assert answer.headers["Allow"] == allowed


def test_message_names_every_invalid_member(client: FlaskClient):
    answer = client.post(
        "/v1/pets", json={"name": 1, "status": "lost", "colour": "red"}
    )
    assert error_of(answer) == INVALID
    named = {fault.split(": ")[0] for fault in answer.json["message"].split("; ")}
    assert named == {"name", "categoryId", "status", "colour"}


def test_long_list_of_errors_is_truncated(client: FlaskClient):
    answer = client.post("/v1/pets", json={"x" * 50 + str(n): 1 for n in range(100)})
    assert error_of(answer) == INVALID
    assert len(answer.data) < 3000
    assert answer.json["message"].endswith("and 82 more")


def test_long_member_name_is_truncated_in_the_message(client: FlaskClient):
    answer = client.post("/v1/pets", json=REX | {"x" * 60_000: 1})
    assert error_of(answer) == INVALID
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
def test_internal_error_is_logged_with_its_traceback_and_ends_nothing(
    client: FlaskClient, caplog: pytest.LogCaptureFixture
):
    client.get("/v1/pets/1")
    assert "Traceback" in caplog.text
    assert "the secret of the house" in caplog.text
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
def test_every_response_has_the_headers_of_the_api(
    client: FlaskClient, method: str, path: str, status: int
):
    answer = client.open(path, method=method)
    assert answer.status_code == status
    assert set(answer.headers.keys()) >= RATE_LIMIT_HEADERS
    assert answer.headers["X-RateLimit-Limit"] == "1000"
    assert answer.headers["X-RateLimit-Remaining"] == "999"
    assert answer.headers.getlist("Cache-Control") == ["no-store"]
    assert answer.headers.getlist("X-Content-Type-Options") == ["nosniff"]


def test_every_code_is_raised():
    files = set((ROOT / "petstore").rglob("*.py")) - {ROOT / "petstore" / "errors.py"}
    source = "".join(file.read_text() for file in files)
    assert [code for code in ERRORS if f'"{code}"' not in source] == []


def test_rules_have_known_codes():
    assert {rule.code for rule in every(RuleError)} - {None} <= ERRORS.keys()


def every(root: type[RuleError]) -> set[type[RuleError]]:
    """Return the error and those that are derived from it."""
    return {root}.union(*map(every, root.__subclasses__()))
