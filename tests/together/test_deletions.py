"""Each extension can be deleted, or switched off, as README says; the rest serves.

It is deleted in a copy: its folder, its word in the list, and its blocks of settings.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from peewee import Column, Table, fn

from petstore import create_app
from petstore.extensions import EXTENSIONS
from petstore.extensions.operations.tables import stored_tables
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.settings import read_settings
from petstore.storage.database import databases_at
from tests.extensions.operations.contents import contents, fill
from tests.harness import databases
from tests.harness.clocks import Clock
from tests.harness.databases import each_engine, of_one_engine
from tests.harness.deletion import copy_without

database_url = each_engine

SMOKE = """
from petstore import create_app
from petstore.models.keys import Key
from petstore.models.projects import Project

app = create_app()
project = Project.find_by_slug("rival")
key = Key.issue(project)
client = app.test_client()
client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {key}"
added = client.post("/v1/pets", json={"name": "Tom", "categoryId": 1})
assert added.status_code == 201, added.json
client.post("/dashboard/sign-in", data={"key": key})
for rule in app.url_map.iter_rules():
    if "GET" in rule.methods and not rule.arguments:
        status = client.get(rule.rule).status_code
        assert status < 500, (rule.rule, status)
"""


@pytest.fixture
def filled(
    app: Flask,
    client: FlaskClient,
    rival_client: FlaskClient,
    project: Project,
    rival: Project,
    clock: Clock,
    database_url: str,
) -> str:
    """The URL of a database whose tables all have rows of two projects."""
    fill(rival_client, rival, clock)
    fill(client, project, clock)
    return database_url


def run(copy: Path, url: str, *words: str) -> None:
    """Run Python in a copy of the service."""
    command, environ = [sys.executable, *words], {"DATABASE_URL": url}
    ended = subprocess.run(
        command, check=False, cwd=copy, env=environ, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def held(url: str, project: Project) -> Iterator[tuple[str, int]]:
    """Return how many rows of the project each table has."""
    opened = databases_at(url)
    for table in stored_tables(opened)[0]:
        if "project_id" in table.references:
            of_project = Column(Table(table.name), "project_id") == project.id
            rows = Table(table.name).select(fn.COUNT(1)).where(of_project)
            yield table.name, rows.tuples().execute(opened.db)[0][0]
    opened.close()


@pytest.mark.parametrize("names", [*([name] for name in EXTENSIONS), [*EXTENSIONS]])
def test_rest_copies_deletes_and_serves_without_an_extension(
    names: list[str],
    filled: str,
    project: Project,
    rival: Project,
    tmp_path: Path,
    new_database: Callable[[str], str],
):
    copy_without(names, tmp_path / "copy")
    if "operations" not in names:
        other = "postgresql" if filled.startswith("sqlite") else "sqlite"
        target = new_database(other)
        run(tmp_path / "copy", filled, "-m", "petstore", "data", "copy", target)
        assert contents(databases_at(target)) == contents(databases_at(filled))
    before = dict(held(filled, rival))
    assert all(before.values()), "each table has rows"
    delete = ("projects", "delete", project.slug, "--yes")
    run(tmp_path / "copy", filled, "-m", "petstore", *delete)
    assert sum(dict(held(filled, project)).values()) == 0
    assert dict(held(filled, rival)) == before
    run(tmp_path / "copy", filled, "-c", SMOKE)


@of_one_engine
@pytest.mark.parametrize("name", EXTENSIONS)
def test_rest_serves_while_an_extension_is_off(name: str, environ: dict[str, str]):
    others = ",".join(each for each in EXTENSIONS if each != name)
    with databases.set_aside():
        app = create_app(read_settings(environ | {"PETSTORE_EXTENSIONS": others}))
        project = Project.add("Shelter", None, Plan("pro"))
        key = Key.issue(project)
        client = app.test_client()
        client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {key}"
        client.post("/dashboard/sign-in", data={"key": key})
        for rule in app.url_map.iter_rules():
            if "GET" in rule.methods and not rule.arguments:
                assert client.get(rule.rule).status_code < 500, rule.rule
