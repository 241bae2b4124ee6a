"""flask projects delete: all of a project goes, and nothing of another one."""

import time
from collections.abc import Callable
from pathlib import Path

import peewee
import pytest
from click.testing import Result
from flask import Flask
from flask.testing import FlaskClient

from petstore.models.keys import Key
from petstore.models.projects import Project
from petstore.quotas.stores.database import Strike
from tests.cli.contents import contents, fill
from tests.cli.outputs import failure, text_of
from tests.harness.clocks import Clock
from tests.harness.load import load
from tests.harness.services import serving
from tests.harness.waiting import wait_until

NOT_OF_A_PROJECT = {"Secret"}
# 429 is for those who go on without a key that works.
STATUSES_WHILE_DELETED = {200, 201, 401, 429, 503}


@pytest.fixture
def delete(flask: Callable) -> Callable[..., Result]:
    return lambda *arguments: flask("projects", "delete", *arguments)


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
    fill(client, project, clock)
    grown = {name for name, found in contents().items() if found != before[name]}
    assert grown == before.keys() - NOT_OF_A_PROJECT
    assert text_of(delete("shelter", "--yes")) == ""
    after = contents()
    assert [each.slug for each in Project.select()] == ["rival"]
    assert {each.project_id for each in Key.select()} == {rival.id}
    for name in before.keys() - {"Project", "Key"}:
        assert after[name] == before[name]


def test_refusals_of_keys_that_are_no_longer_listed_go_too(
    delete: Callable, client: FlaskClient, project: Project, clock: Clock
):
    fill(client, project, clock)
    Key.update(revoked_ms=clock.now_ms).execute()
    clock.move(days=31)
    delete("shelter", "--yes")
    assert not Strike.select().exists()


def test_keys_stop_on_the_next_request(delete: Callable, client: FlaskClient):
    assert client.get("/v1/pets").status_code == 200
    delete("shelter", "--yes")
    answer = client.get("/v1/pets")
    assert (answer.status_code, answer.json["code"]) == (401, "invalid_api_key")


def test_deletion_is_asked_for_first(app: Flask, project: Project):
    runner = app.test_cli_runner()
    arguments = ["projects", "delete", project.slug]
    assert runner.invoke(args=arguments, input="n\n").exit_code == 1
    assert runner.invoke(args=arguments, input="").exit_code == 1
    assert Project.by_slug(project.slug)
    result = runner.invoke(args=arguments, input="y\n")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "Delete Shelter (shelter)" in result.stderr
    assert not Project.by_slug(project.slug)


def test_failed_deletion_deletes_nothing(
    delete: Callable,
    client: FlaskClient,
    project: Project,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
):
    fill(client, project, clock)
    before = contents()

    def fail(*_: object, **__: object) -> None:
        raise peewee.OperationalError("no more")

    monkeypatch.setattr(Project, "delete_instance", fail)
    failure(delete("shelter", "--yes"))
    assert contents() == before
    assert Strike.select().exists()


def test_requests_under_way_are_answered_while_their_project_is_deleted(
    environ: dict[str, str], delete: Callable, tmp_path: Path
):
    with serving(tmp_path, environ | {"WEB_CONCURRENCY": "2"}) as service:
        with load(
            service.url, [service.key] * 4, adds=True, pause_seconds=0
        ) as clients:
            wait_until(lambda: clients.added)
            assert text_of(delete("shelter", "--yes")) == ""
            deleted_at = time.monotonic()
            wait_until(lambda: clients.since(deleted_at))
        assert clients.statuses() <= STATUSES_WHILE_DELETED
        assert {answer.status for answer in clients.since(deleted_at)} <= {401, 429}
        assert "internal_error" not in service.gunicorn.log.read_text()
    assert not Project.select().exists()
