"""A suspended project is served nothing over the API, and keeps everything."""

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from petstore.models.grants import PUBLIC, READ, ROLES, Grant
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.upkeep.projects import delete_project, set_suspended
from tests.core.api.conftest import REX
from tests.harness.answers import error_of

SUSPENDED = (403, "project_suspended")
RETRY = {"json": REX, "headers": {"Idempotency-Key": "1"}}
ORIGIN = "https://shelter.example"


@pytest.fixture
def suspended(rex: dict, project: Project) -> Project:
    """The project, which has an animal."""
    set_suspended(project, True)
    return project


def test_no_key_is_served_until_the_project_is_resumed(
    client_of: Callable, project: Project
):
    limited = {PUBLIC: Grant(PUBLIC, 9, 9, (ORIGIN,)), READ: Grant(READ, 9, 9)}
    grants = [limited.get(role) or Grant(role) for role in ROLES]
    clients = [client_of(Key.issue(project, grant)) for grant in grants]
    for is_suspended, found in ((True, SUSPENDED), (False, 200), (True, SUSPENDED)):
        set_suspended(project, is_suspended)
        answers = [client.get("/v1/pets") for client in clients]
        if is_suspended:
            assert [error_of(answer) for answer in answers] == [found] * len(ROLES)
        else:
            assert {answer.status_code for answer in answers} == {found}


@pytest.mark.parametrize(
    ("method", "path", "options"),
    [
        ("POST", "/v1/pets", {"data": b"{", "content_type": "text/plain"}),
        ("POST", "/v1/pets", {"json": REX, "headers": {"Idempotency-Key": "not one"}}),
        ("GET", "/v1/pets", {"query_string": "unknown=1"}),
        *(("GET", f"/v1/{path}", {}) for path in ("pets/999", "nothing", "pets/x")),
        ("DELETE", "/v1/pets", {}),
    ],
)
def test_a_request_is_counted_and_refused_before_it_is_looked_at(
    client: FlaskClient, suspended: Project, method: str, path: str, options: dict
):
    before = int(client.get("/v1/pets").headers["X-RateLimit-Remaining"])
    refused = client.open(path, method=method, **options)
    assert error_of(refused) == SUSPENDED
    assert refused.headers["X-RateLimit-Remaining"] == str(before - 1)


def test_the_quota_and_a_ban_refuse_first(client_of: Callable, project: Project):
    project.change_plan(Plan("enterprise", 2, 9))
    banned = Key.issue(project)
    set_suspended(project, True)
    client = client_of(Key.issue(project))
    found = [error_of(client.get("/v1/pets")) for _ in range(3)]
    assert found == [SUSPENDED] * 2 + [(429, "rate_limit_exceeded")]
    Key.ban(Key.find_by_prefix(banned[:16]).id, 1 << 60)
    assert error_of(client_of(banned).get("/v1/pets"))[1] == "api_key_banned"


def test_a_retry_is_replayed_only_after_the_project_is_resumed(
    client: FlaskClient, project: Project
):
    first = client.post("/v1/pets", **RETRY)
    set_suspended(project, True)
    assert error_of(client.post("/v1/pets", **RETRY)) == SUSPENDED
    set_suspended(project, False)
    again = client.post("/v1/pets", **RETRY)
    assert (again.json, client.get("/v1/pets").json) == (first.json, [first.json])
    assert again.headers["Idempotent-Replayed"] == "true"


def test_others_are_served(
    client: FlaskClient, rival_client: FlaskClient, suspended: Project
):
    assert rival_client.get("/v1/pets").json == []
    assert client.options("/v1/pets").status_code == 204


def test_it_can_be_deleted(client: FlaskClient, suspended: Project):
    delete_project(suspended)
    assert error_of(client.get("/v1/pets")) == (401, "invalid_api_key")
    assert Project.find_being_deleted(suspended.slug) is None
