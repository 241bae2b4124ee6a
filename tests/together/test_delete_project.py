"""flask projects delete: all of a project goes, and nothing of another one."""

import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import peewee
import pytest
from click.testing import Result
from flask import Flask
from flask.testing import FlaskClient

from petstore.extensions.hosting.models import Host
from petstore.models.activity import Event
from petstore.models.categories import Category
from petstore.models.credentials import prefix_of
from petstore.models.keys import Key
from petstore.models.pets import Pet
from petstore.models.projects import Project
from petstore.quotas.database import Counter
from petstore.storage import counters, db
from petstore.upkeep import projects
from tests.core.cli.outputs import failure, printed, refusal, table, text_of
from tests.extensions.operations.contents import contents, fill
from tests.harness.browser import add_pet
from tests.harness.clocks import Clock
from tests.harness.databases import of_both_engines
from tests.harness.load import load
from tests.harness.services import serving
from tests.harness.statements import recorded
from tests.harness.waiting import wait_until

MANY, BATCHES = 2_000, 20  # rows in each of two projects, and batches of one

COUNTED = {"window_counter", "strike"}  # which are deleted when they are outdated


# A row that is referred to otherwise would have to wait for those that refer to it.
REFERRED = {"project", "api_key", "session"}


@pytest.fixture
def delete(flask: Callable) -> Callable[[], Result]:
    return lambda: flask("projects", "delete", "shelter", "--yes")


@pytest.mark.usefixtures("project")
def test_rows_refer_only_to_what_goes_last_or_takes_them_along():
    keys = [key for table in db.get_tables() for key in db.get_foreign_keys(table)]
    assert {key.dest_table for key in keys} == REFERRED


@of_both_engines
def test_every_table_loses_its_rows_and_the_other_project_keeps_them(
    delete: Callable,
    client: FlaskClient,
    rival_client: FlaskClient,
    project: Project,
    rival: Project,
    clock: Clock,
):
    fill(rival_client, rival, clock)
    before = contents()
    own_key = Key.update(per_minute=9, per_day=9).where(Key.project == project)
    own_key.execute()
    fill(client, project, clock)
    assert any("/key:" in row.key for row in Counter.select())
    grown = {name for name, found in contents().items() if found != before[name]}
    assert grown == before.keys() - {"secret", "slug"}
    Key.update(revoked_ms=clock.now_ms).where(Key.project == project).execute()
    clock.move(days=31)  # so that its keys are not listed any more
    assert text_of(delete()) == ""
    after = contents()
    assert [each.slug for each in Project.select()] == ["rival"]
    for model in (Key, Event):  # of both projects, also before they are filled
        assert {each.project_id for each in model.select()} == {rival.id}
    for name in before.keys() - {"project", "api_key", "activity", *COUNTED}:
        assert after[name] == before[name]
    assert after["slug"] == [("rival",), ("shelter",)]


def test_request_under_way_finds_its_key_gone(
    delete: Callable, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
):
    add = Pet.add

    def add_late(*arguments: Any, **members: Any) -> Pet:
        delete()
        return add(*arguments, **members)

    monkeypatch.setattr(Pet, "add", add_late)
    answer = client.post("/v1/pets", json={"name": "Rex", "categoryId": 7})
    assert (answer.status_code, answer.json["code"]) == (401, "invalid_api_key")


def test_deletion_is_asked_for_first(app: Flask, project: Project):
    runner, arguments = app.test_cli_runner(), ["projects", "delete", "shelter"]
    for refusing in ("n\n", ""):
        assert runner.invoke(args=arguments, input=refusing).exit_code == 1
    assert Project.find_by_slug("shelter")
    result = runner.invoke(args=arguments, input="y\n")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "Delete Shelter (shelter)" in result.stderr
    assert not Project.find_by_slug("shelter")


@pytest.fixture
def pauses(
    set_limits: Callable, monkeypatch: pytest.MonkeyPatch
) -> list[Callable[[], object]]:
    """What happens in the pauses between two batches, which have one row each."""
    set_limits(deleted_rows=1, deletion_pause_seconds=0)
    calls: list[Callable[[], object]] = []

    def pause(_seconds: float) -> None:
        for call in calls:
            call()

    monkeypatch.setattr(projects, "time", SimpleNamespace(sleep=pause))
    return calls


def interrupt() -> None:
    raise peewee.OperationalError("no more")


def test_project_is_gone_while_its_rows_are_deleted_until_the_command_finishes_it(
    flask: Callable,
    delete: Callable,
    client: FlaskClient,
    project: Project,
    rival: Project,
    clock: Clock,
    pauses: list,
):
    fill(client, project, clock)
    pauses.append(interrupt)
    for _ in range(2):
        failure(delete())
        assert "`flask projects delete shelter` goes on" in flask("check").stdout
    assert Pet.select().exists()
    assert Host.find_by_domain("pets.example.org") is None
    assert client.get("/v1/pets").status_code == 401
    assert Host.find_by_slug("shelter") is None
    assert [row["SLUG"] for row in table(flask("projects", "list"))] == ["rival"]
    assert '"shelter"' not in flask("keys", "list", "--json").stdout
    assert refusal(flask("keys", "create", "--project", "shelter"))
    prefix = prefix_of(printed(flask("keys", "create")))  # of the only project
    assert Key.find_by_prefix(prefix).project_id == rival.id
    pauses.clear()
    assert text_of(delete()) == ""
    assert not Pet.select().exists()
    assert refusal(delete()) == "There is no project 'shelter'."


def test_others_write_between_two_batches(
    delete: Callable, project: Project, rival: Project, pauses: list
):
    for _ in range(3):
        add_pet(project, "Rex")
    left = []

    def write() -> None:
        assert not db.in_transaction()
        assert not counters.in_transaction()
        add_pet(rival, "Rex")
        left.append(Pet.select().where(Pet.project == project.id).count())

    pauses.append(write)
    delete()
    assert left == [3, 2, 1, 0]  # after the category, and each animal
    assert Pet.select().where(Pet.project == rival.id).count() == len(left)


@of_both_engines
def test_late_row_is_deleted_too(delete: Callable, project: Project, pauses: list):
    add_pet(project, "Rex")

    def add_once() -> None:
        if not Category.select().exists():
            pauses.clear()
            add_pet(project, "Rex")

    pauses.append(add_once)
    assert text_of(delete()) == ""
    assert not pauses
    assert not Pet.select().exists()


@of_both_engines
def test_batches_of_large_tables_are_found_along_an_index(
    delete: Callable, project: Project, rival: Project, set_limits: Callable
):
    numbers = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n"
    for shop in (rival.id, project.id):
        for columns, values in (
            ("pet (project_id, name, category_id, status)", "'Rex', 7, 'sold'"),
            ("category (project_id, id)", "n"),
        ):
            inserted = f"INSERT INTO {columns} SELECT {shop}, {values} FROM n"
            db.execute_sql(f"{numbers} WHERE n < {MANY}) {inserted}")
    db.execute_sql("ANALYZE")
    set_limits(deleted_rows=MANY // BATCHES, deletion_pause_seconds=0)
    with recorded() as statements:
        text_of(delete())
    large = [s for s in statements if s.gist.split()[-1] in ("pet", "category")]
    assert len(large) == 2 * 2 * (BATCHES + 1)
    for statement in large:
        plan = statement.plan()
        assert "SEARCH" in plan or "Index" in plan
        for detour in ("SCAN t1", "TEMP B-TREE", "Seq Scan", "Sort"):
            assert detour not in plan, statement.sql


@of_both_engines
def test_requests_under_way_are_answered_while_their_project_is_deleted(
    environ: dict[str, str], delete: Callable, tmp_path: Path
):
    def late() -> set[int | None]:
        return {a.status for a in clients.answers if a.sent_at >= deleted_at}

    with serving(tmp_path, environ) as service:
        with load(service.url, [service.key] * 4, adds=True) as clients:
            wait_until(lambda: clients.added)
            assert text_of(delete()) == ""
            deleted_at = time.monotonic()
            wait_until(late)
        # 429 is for those who go on without a key that works.
        assert clients.statuses() <= {200, 201, 401, 429, 503}
        assert late() <= {401, 429}
        assert "internal_error" not in service.gunicorn.log.read_text()
    assert not Project.select().exists()
