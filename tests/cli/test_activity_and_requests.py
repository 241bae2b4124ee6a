"""flask activity and flask requests: what happened, for who has no browser."""

import json
from collections.abc import Callable

from flask import Flask
from flask.testing import FlaskClient

from petstore.events import note
from petstore.models.projects import Project
from petstore.models.requests import failures
from tests.cli.outputs import refusal, table, text_of
from tests.harness.browser import Browser


def test_activity_says_who_did_what(
    flask: Callable, app: Flask, project: Project, rival: Project
):
    key = flask("keys", "create", "--project", "shelter", "--label", "Front desk")
    prefix = key.stdout[:16]
    Browser(app, key.stdout.strip())  # which signs in
    note("shelter", "Animal 1 added")
    flask("projects", "change", "shelter", "--name", "Katzen")
    rows = table(flask("activity", "--project", "shelter"))
    told = [(row["TOPIC"], row["FACTS"], row["BY"], row["LABEL"]) for row in rows]
    assert told == [
        ("settings", "name=Katzen", "operator", "-"),
        ("settings", f"key={prefix}", "operator", "-"),
        ("shelter", "-", rows[2]["BY"], rows[2]["LABEL"]),
        ("sessions", f"key={prefix}", prefix, "Front desk"),
    ]
    assert [row["EVENT"] for row in rows[::2]] == ["Project renamed", "Animal 1 added"]
    assert json.loads(text_of(flask("activity", "--project", "rival", "--json"))) == []


def test_failed_requests_are_listed_newest_first(
    flask: Callable, client: FlaskClient, key: str, rival_client: FlaskClient
):
    client.get("/v1/pets/9", headers={"X-Request-ID": "first"})
    client.get("/v1/pets?limit=0", headers={"X-Request-ID": "second"})
    rival_client.get("/v1/pets/8")
    failures.flush()
    [second, first] = json.loads(
        text_of(flask("requests", "--project", "shelter", "--json"))
    )
    assert (second["id"], second["code"]) == ("second", "invalid_request")
    assert first == {
        "project": "shelter",
        "time": "2027-03-17T12:00:10Z",
        "operation": "getPet",
        "status": 404,
        "code": "not_found",
        "message": "There is no animal 9.",
        "key": key[:16],
        "id": "first",
    }
    assert [row["PROJECT"] for row in table(flask("requests"))].count("rival") == 1


def test_unknown_project_is_refused(flask: Callable):
    for command in ("activity", "requests"):
        assert refusal(flask(command, "--project", "x")).startswith("There is no")
