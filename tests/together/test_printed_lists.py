"""flask activity, domains list, requests and usage: what others see on pages."""

import json
from collections.abc import Callable

from flask import Flask
from flask.testing import FlaskClient

from petstore.extensions.dashboard.histories import note
from petstore.extensions.hosting.models import Certificate, Domain
from petstore.models import flush_queues
from petstore.models.projects import Plan, Project
from tests.core.cli.outputs import printed, table, text_of
from tests.harness.browser import Browser
from tests.harness.clocks import Clock

OF_SHELTER = ("--project", "shelter", "--json")


def test_deeds_are_told(flask: Callable, app: Flask, project: Project, rival: Project):
    options = ("--project", "shelter", "--label", "Front desk")
    key = printed(flask("keys", "create", *options))
    Browser(app, key)  # which signs in
    note("shelter", "Animal 1 added", {})
    flask("projects", "change", project.slug, "--name", "Katzen")
    names = [each.name for each in Project.select().order_by(Project.id)]
    assert names == ["Katzen", rival.name]
    rows = table(flask("activity", "--project", "shelter"))
    told = [(row["TOPIC"], row["FACTS"], row["BY"], row["LABEL"]) for row in rows]
    assert told == [
        ("settings", "name=Katzen was.name=Shelter", "operator", "-"),
        ("settings", f"key={key[:16]} label=Front desk", "operator", "-"),
        ("shelter", "-", rows[2]["BY"], rows[2]["LABEL"]),
        ("sessions", f"key={key[:16]}", key[:16], "Front desk"),
    ]
    assert [row["EVENT"] for row in rows[::2]] == ["Project renamed", "Animal 1 added"]


def test_failed_requests_are_listed_newest_first(
    flask: Callable, client: FlaskClient, key: str, rival_client: FlaskClient
):
    client.get("/v1/pets/9", headers={"X-Request-ID": "first"})
    client.get("/v1/pets?limit=0", headers={"X-Request-ID": "second"})
    rival_client.get("/v1/pets/8")
    flush_queues()
    [second, first] = table(flask("requests", "--project", "shelter"))
    assert (second["ID"], second["CODE"]) == ("second", "invalid_request")
    assert list(first.values()) == [
        *("shelter", "2027-03-17T12:00:10Z", "getPet", "404", "not_found"),
        *("There is no animal 9.", key[:16], "first"),
    ]
    assert [row["PROJECT"] for row in table(flask("requests"))].count("rival") == 1


def test_usage_has_a_line_for_each_project_and_day(
    flask: Callable, client: FlaskClient, project: Project, rival: Project, clock: Clock
):
    project.change_plan(Plan("enterprise", 2, 10))
    client.get("/v1/pets")
    clock.move(days=1)
    for _ in range(3):
        client.get("/v1/pets")
    flush_queues()
    mine = [("2027-03-17", "1", "0"), ("2027-03-18", "2", "1")]
    shown = table(flask("usage", "--days", "2"))
    assert [(r["DAY"], r["SERVED"], r["REFUSED"]) for r in shown[2:]] == mine
    assert [row["PROJECT"] for row in shown] == ["rival"] * 2 + ["shelter"] * 2
    today = {"project": "shelter", "day": "2027-03-18", "served": 2, "refused": 1}
    assert json.loads(text_of(flask("usage", *OF_SHELTER))) == [today | {"perDay": 10}]


def test_domains_are_listed_with_their_states(
    flask: Callable, own: Callable[..., Domain], project: Project, rival: Project
):
    shop = own(project, "shop.example.org")
    Domain.add(project, "new.example.org")
    shop.record_certificate(Certificate("Authority", 1_900_000_000_000, None))
    rows = table(flask("domains", "list"))
    assert [tuple(row.values()) for row in rows] == [
        ("new.example.org", "shelter", "not verified", "-", "-"),
        ("shop.example.org", "shelter", "verified", "active", "2030-03-17T17:46:40Z"),
    ]
    own(rival, "shop.example.org")
    rival.change_plan(Plan("free"))
    [_, lost] = json.loads(text_of(flask("domains", "list", *OF_SHELTER)))
    assert (lost["state"], lost["certificate"]) == ("taken over", None)
    [row] = table(flask("domains", "list", "--project", "rival"))
    assert row["STATE"] == "stopped by the plan"
