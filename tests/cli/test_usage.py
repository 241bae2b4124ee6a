"""flask usage: what each project used of its quota, by day."""

import json
from collections.abc import Callable

from flask.testing import FlaskClient

from petstore.models.projects import Plan, Project
from petstore.models.requests import uses
from tests.cli.outputs import refusal, table, text_of
from tests.harness.clocks import Clock
from tests.harness.databases import of_one_engine


def test_each_project_and_day_has_a_line(
    flask: Callable, client: FlaskClient, project: Project, rival: Project, clock: Clock
):
    project.change_plan(Plan("enterprise", 2, 10))
    client.get("/v1/pets")
    clock.move(days=1)
    for _ in range(3):
        client.get("/v1/pets")
    uses.flush()
    mine = [("2027-03-17", "1", "0"), ("2027-03-18", "2", "1")]
    shown = table(flask("usage", "--days", "2"))
    assert [(r["DAY"], r["SERVED"], r["REFUSED"]) for r in shown[2:]] == mine
    assert [row["PROJECT"] for row in shown] == ["rival"] * 2 + ["shelter"] * 2
    assert shown[2]["PER DAY"] == "10"


def test_today_is_shown_unless_told_otherwise(
    flask: Callable, client: FlaskClient, rival: Project
):
    client.get("/v1/pets")
    uses.flush()
    [row] = json.loads(text_of(flask("usage", "--project", "shelter", "--json")))
    assert row == {
        "project": "shelter",
        "day": "2027-03-17",
        "served": 1,
        "refused": 0,
        "perDay": 100_000,
    }


@of_one_engine
def test_invalid_number_of_days_is_refused(flask: Callable):
    for days in ("0", "32", "x", "1.5", ""):
        assert "--days" in refusal(flask("usage", "--days", days))
