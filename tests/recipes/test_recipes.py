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


def test_fields_of_an_animal_are_in_api_description_form_and_files(
    run: Run, unmigrated_url: str
):
    script = """
import csv
import io
import re

rex = {"name": "Rex", "categoryId": 7}
unknown = {"vaccinated": None, "bornOn": None, "nicknames": []}
known = {"vaccinated": True, "bornOn": "2026-05-01", "nicknames": ["Rexy", "O, Rex"]}
new = client.post("/v1/pets", json=rex)
assert new.json == {"id": 1, **rex, "status": "available", **unknown}
full = client.post("/v1/pets", json=rex | known).json
assert full == {"id": 2, **rex, "status": "available", **known}
assert client.get("/v1/pets").json == [new.json, full]
assert client.get("/v1/pets/2").json == full
born = client.patch("/v1/pets/1", json={"bornOn": "2025-01-31"}).json
assert born == new.json | {"bornOn": "2025-01-31"}
assert client.patch("/v1/pets/1", json={"bornOn": None}).json == new.json
wrong = {"vaccinated": "perhaps", "bornOn": "May", "nicknames": ["Rexy", ""]}
refused = client.post("/v1/pets", json=rex | wrong).json["message"]
assert re.findall(r"(\\w\\S*): ", refused) == ["vaccinated", "bornOn", "nicknames.1"]

schemas = client.get("/openapi.json").json["components"]["schemas"]
for name in ("Pet", "NewPet", "PetChange"):
    described = schemas[name]["properties"]
    assert described["vaccinated"]["type"] == ["boolean", "null"]
    assert described["bornOn"]["format"] == "date"
    assert described["nicknames"]["items"]["type"] == "string"
assert {*known} < {*schemas["Pet"]["required"]}

client.post("/dashboard/sign-in", data={"key": key})
page = client.get("/dashboard/animals/2").text
assert '<option value="yes" selected>' in page
assert 'value="2026-05-01"' in page
shown = {"vaccinated": "yes", "bornOn": "2026-05-01", "nicknames": 'Rexy,"O, Rex"'}
form = {"name": "Max", "categoryId": "7"} | shown
assert client.post("/dashboard/animals", data=form).status_code == 303
assert client.get("/v1/pets/3").json == full | {"id": 3, "name": "Max"}
cleared = form | dict.fromkeys(shown, "")
assert client.post("/dashboard/animals/3", data=cleared).status_code == 303
assert client.get("/v1/pets/3").json == new.json | {"id": 3, "name": "Max"}
wrong = client.post("/dashboard/animals", data=form | {"nicknames": "a,,b"})
assert "Nicknames must have 1 to 200 characters." in wrong.text
assert ">Max<" in client.get("/dashboard/animals").text

file = client.get("/dashboard/animals.csv").data
heads, _, line, _ = csv.reader(io.StringIO(file.decode("utf-8-sig")))
assert heads[4:] == ["status", *known]
assert line[4:] == ["available", *shown.values()]
file = file.replace(b"2,Rex,", b",Rex,").replace(b",yes,", b",no,", 1)
sent = {"file": (io.BytesIO(file), "animals.csv")}
question = client.post("/dashboard/animals/import", data=sent).location
assert client.post(question).status_code == 303
added = full | {"id": 4, "vaccinated": False}
max = new.json | {"id": 3, "name": "Max"}
print(client.get("/v1/pets").json == [new.json, full, max, added])
"""
    assert run("Add a field", script, DATABASE_URL=unmigrated_url) == "True"


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
