"""Error responses: status, Error body and headers (specification section 7)."""

import pytest
from flask.testing import FlaskClient

from petstore.errors import ERRORS
from petstore.models import RuleError
from petstore.models.pets import Pet
from tests.harness.answers import INVALID, error_of
from tests.harness.databases import of_one_engine
from tests.harness.servers import ROOT

REX = {"name": "Rex", "categoryId": 7}


@of_one_engine
def test_every_member_at_fault_is_named(client: FlaskClient):
    answer = client.post("/v1/pets", json={f"x{n}": 1 for n in range(100)})
    assert error_of(answer) == INVALID
    assert answer.json["message"].count("; ") == 101  # two are required


@of_one_engine
def test_long_member_name_is_truncated_in_the_message(client: FlaskClient):
    answer = client.post("/v1/pets", json=REX | {"x" * 60_000: 1})
    assert error_of(answer) == INVALID
    assert len(answer.data) < 300


@of_one_engine
@pytest.mark.parametrize("name", ["{0.__class__}", "{}", "{", "%(a)s"])
def test_braces_in_a_name_are_text(client: FlaskClient, name: str):
    answer = client.post("/v1/pets", json=REX | {name: 1})
    assert error_of(answer) == INVALID
    assert answer.json["message"].startswith(f"{name}: ")


@of_one_engine
def test_internal_error_discloses_no_details(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Pet, "find", lambda *_: {}["the secret of the house"])
    answer = client.get("/v1/pets/1")
    assert error_of(answer) == (500, "internal_error")
    for word in ("Traceback", "KeyError", "secret", ".py"):
        assert word not in answer.text
    assert answer.headers["X-Request-ID"] in answer.json["message"]
    assert "Sunset" in answer.headers
    assert answer.headers["X-RateLimit-Remaining"] == "999"
    assert client.get("/v1/pets").status_code == 200


def test_every_code_is_raised():
    files = set((ROOT / "petstore").rglob("*.py")) - {ROOT / "petstore" / "errors.py"}
    source = "".join(file.read_text() for file in files)
    assert [code for code in ERRORS if f'"{code}"' not in source] == []


def test_rules_have_known_codes():
    assert {rule.code for rule in every(RuleError)} - {None} <= ERRORS.keys()


def every(root: type[RuleError]) -> set[type[RuleError]]:
    """Return the error and those that are derived from it."""
    return {root}.union(*map(every, root.__subclasses__()))
