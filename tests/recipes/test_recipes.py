"""Each recipe of docs/recipes.md does what it says."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from tests.harness.servers import ROOT
from tests.recipes import recipes

BEGIN = """
    from petstore import create_app, log
    from petstore.models.keys import Key
    from petstore.models.projects import Plan, Project
    from petstore.settings import read_settings
    from petstore.storage.migrator import migrate

    log.STDOUT.put = lambda _line: None
    app = create_app(read_settings({"DATABASE_URL": "sqlite:///recipe.db"} | SETTINGS))
    migrate()
    project = Project.add("Shelter", None, Plan("free"))
    client = app.test_client()
    key = Key.issue(project)
    client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {key}"
"""

Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return a function that applies a recipe and runs a script with the result."""

    def run(recipe: str, script: str, **settings: str) -> str:
        copy = recipes.copy_of_the_service(tmp_path)
        recipes.apply(recipe, copy)
        done = subprocess.run(
            [sys.executable, "-c", f"SETTINGS = {settings}" + dedent(BEGIN) + script],
            cwd=copy,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()[-1]

    return run


def test_resource_can_be_added_listed_and_fetched(run: Run):
    printed = run(
        "Add a resource",
        """
made = client.post("/v1/clinics", json={"name": "Paws"})
assert (made.status_code, made.location) == (201, "/v1/clinics/1"), made.text
assert client.get("/v1/clinics").json == [{"id": 1, "name": "Paws"}]
assert client.get("/v1/clinics/2").status_code == 404
assert client.post("/v1/clinics", json={}).json["message"] == "name: is required"
assert "Clinics" in client.get("/openapi.json").json["components"]["schemas"]
clinic = client.get("/v1/clinics/1").json
deleted = app.test_cli_runner().invoke(args=["projects", "delete", "shelter", "--yes"])
assert deleted.exit_code == 0, deleted.output
print(clinic)
""",
    )
    assert printed == "{'id': 1, 'name': 'Paws'}"


def test_field_of_an_animal_is_stored_listed_and_described(run: Run):
    script = """
rex = {"name": "Rex", "categoryId": 7}
assert client.post("/v1/pets", json=rex).json["age"] is None
old = client.post("/v1/pets", json=rex | {"age": 12})
assert client.get("/v1/pets").json[1] == old.json == client.get(old.location).json
assert client.post("/v1/pets", json=rex | {"age": "12"}).status_code == 400
assert client.post("/v1/store/orders", json={"petId": 2}).status_code == 201
members = client.get("/openapi.json").json["components"]["schemas"]["Pet"]["properties"]
assert members["age"]["description"]
print(old.json)
"""
    rex = "{'id': 2, 'name': 'Rex', 'categoryId': 7, 'status': 'available', 'age': 12}"
    assert run("Add a field to an animal", script) == rex


def test_plan_is_offered_and_enforced(run: Run):
    script = """
project.change_plan(Plan("team"))
print(client.get("/v1/pets").headers["RateLimit-Policy"])
"""
    assert run("Add a plan", script) == '"minute";q=600;w=60, "day";q=30000;w=86400'


def test_page_is_in_the_menu_and_shows_its_figures(run: Run):
    script = """
import re

client.post("/dashboard/sign-in", data={"key": key})
client.post("/v1/pets", json={"name": "Rex", "categoryId": 7})
assert ">Summary</a>" in client.get("/dashboard").text
print(re.findall("<li>([a-z]+: [0-9]+)</li>", client.get("/dashboard/summary").text))
"""
    figures = "['available: 1', 'pending: 0', 'sold: 0']"
    assert run("Add a page", script) == figures


def test_setting_is_read_and_used(run: Run):
    script = """
print(client.get("/openapi.json").json["info"]["title"])
"""
    assert run("Add a setting", script, PETSTORE_TITLE="Paws") == "Paws"


def test_metric_is_counted(run: Run):
    script = """
client.get("/v1/pets")
[line] = [
    line
    for line in client.get("/metrics").text.splitlines()
    if line.startswith("petstore_response_bytes_total{")
]
print(line)
"""
    counted = 'petstore_response_bytes_total{operation="list_pets"} 2.0'
    assert run("Add a metric", script) == counted


def test_each_recipe_has_a_test():
    tests = (ROOT / "tests" / "recipes" / "test_recipes.py").read_text()
    assert not [name for name in recipes.names() if f'"{name}"' not in tests]
