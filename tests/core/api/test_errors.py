"""Error responses: status, Error body and headers (specification section 7)."""

from unittest.mock import Mock

import peewee
import pytest
from flask.testing import FlaskClient

from petstore.errors import ERRORS
from petstore.models import RuleError, flush_queues
from petstore.models.pets import Pet
from petstore.models.projects import Project
from petstore.storage import Busy, db
from tests.harness.answers import error_of
from tests.harness.databases import of_one_engine


@of_one_engine
def test_internal_error_discloses_no_details(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Pet, "get_own", lambda *_: {}["the secret of the house"])
    answer = client.get("/v1/pets/1")
    assert error_of(answer) == (500, "internal_error")
    for word in ("Traceback", "KeyError", "secret", ".py"):
        assert word not in answer.text
    assert answer.headers["X-Request-ID"] in answer.json["message"]
    assert "Sunset" in answer.headers
    assert answer.headers["X-RateLimit-Remaining"] == "999"
    assert client.get("/v1/pets").status_code == 200
    flush_queues()
    db.execute_sql("ALTER TABLE api_key RENAME TO lost")  # what it refuses is a bug too
    assert error_of(client.get("/v1/pets")) == (500, "internal_error")


@of_one_engine
def test_outage_that_begins_while_an_error_is_explained_is_a_503(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Pet, "get_own", Mock(side_effect=peewee.IntegrityError()))
    monkeypatch.setattr(Project, "get_or_none", Mock(side_effect=Busy("It is away.")))
    assert error_of(client.get("/v1/pets/1")) == (503, "service_unavailable")


def test_rules_have_known_codes():
    assert {rule.code for rule in every(RuleError)} - {None} <= ERRORS.keys()


def every(root: type[RuleError]) -> set[type[RuleError]]:
    """Return the error and those that are derived from it."""
    return {root}.union(*map(every, root.__subclasses__()))
