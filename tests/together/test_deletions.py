"""Each extension can be deleted, or switched off, as README says; the rest serves.

It is deleted in a copy: its folder, its word in the list, and its blocks of settings.
"""

import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from petstore import create_app
from petstore.extensions import EXTENSIONS
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.settings import read_settings
from tests.extensions.operations.contents import fill
from tests.harness import databases
from tests.harness.clocks import Clock
from tests.harness.servers import ROOT

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
OF_PROJECT = "SELECT count(*) FROM {} WHERE project_id = ?"


def delete(names: Iterable[str], copy: Path) -> None:
    listed = copy / "petstore/extensions/__init__.py"
    for name in names:
        shutil.rmtree(copy / "petstore/extensions" / name)
        word = (
            rf'^    (?:"{name}"|{name.upper()}): Extension\((?:[^()]|\([^()]*\))*\),\n'
        )
        left, found = re.subn(word, "", listed.read_text(), flags=re.MULTILINE)
        assert found == 1
        listed.write_text(left)
        for path in (copy / "petstore/settings.py", copy / "petstore/timeouts.py"):
            block = rf"^ *# Of the extension {name}\b.*?\n\n"
            text = re.sub(block, "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
            path.write_text(text)


@pytest.fixture
def filled(
    app: Flask,
    client: FlaskClient,
    rival_client: FlaskClient,
    project: Project,
    rival: Project,
    clock: Clock,
    environ: dict[str, str],
) -> dict[str, str]:
    """The settings of a database whose tables all have rows of two projects."""
    fill(rival_client, rival, clock)
    fill(client, project, clock)
    return {"DATABASE_URL": environ["DATABASE_URL"]}


@pytest.mark.parametrize("names", [*([name] for name in EXTENSIONS), [*EXTENSIONS]])
def test_rest_serves_deletes_and_starts_without_an_extension(
    names: list[str], filled: dict[str, str], tmp_path: Path
):
    copy = tmp_path / "copy"
    shutil.copytree(ROOT / "petstore", copy / "petstore")
    delete(names, copy)
    file = filled["DATABASE_URL"].removeprefix("sqlite:///")

    def run(*words: str) -> None:
        ended = subprocess.run(
            [sys.executable, *words],
            check=False,
            cwd=copy,
            env=filled,
            capture_output=True,
            text=True,
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr

    with closing(sqlite3.connect(file)) as database:
        execute = database.execute
        [ours] = execute("SELECT id FROM project WHERE slug = 'shelter'").fetchone()
        tables = ("pet", "domain", "activity", "failed_request", "reply", "api_key")
        run("-m", "petstore", "projects", "delete", "shelter", "--yes")
        for table in tables:
            assert execute(OF_PROJECT.format(table), (ours,)).fetchone() == (0,)
    run("-c", SMOKE)


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
