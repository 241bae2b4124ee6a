"""What the recipes say of a service to which all of them were applied.

test_recipes.py runs these tests there, with the variables of the service.
"""

import csv
import io
import re
from collections.abc import Iterator

import click
import pytest
from flask import Flask
from flask.testing import FlaskClient

from petstore import create_app
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.storage.migrator import migrate

REX = {"name": "Rex", "categoryId": 7}
UNKNOWN = {"vaccinated": None, "weightGrams": None}
KNOWN = {"vaccinated": True, "weightGrams": 4200}
SHOWN = {"vaccinated": "yes", "weightGrams": "4200"}


@pytest.fixture(scope="module")
def app() -> Flask:
    app = create_app()
    list(migrate())
    return app


@pytest.fixture
def project(app: Flask) -> Project:
    return Project.add("Shelter", None, Plan("free"))


@pytest.fixture
def client(app: Flask, project: Project) -> FlaskClient:
    """A client with a key of the project, which is signed in as well."""
    client, key = app.test_client(), Key.issue(project)
    client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {key}"
    client.post("/dashboard/sign-in", data={"key": key})
    return client


def add(client: FlaskClient, **fields: object) -> dict:
    return client.post("/v1/pets", json=REX | fields).json


def test_fields_of_an_animal_are_sent_corrected_and_described(client: FlaskClient):
    new, full = add(client), add(client, **KNOWN)
    assert new == {"id": new["id"], **REX, "status": "available", **UNKNOWN}
    assert full == {"id": full["id"], **REX, "status": "available", **KNOWN}
    assert client.get("/v1/pets").json == [new, full]
    path = f"/v1/pets/{new['id']}"
    for weight in ({"weightGrams": 1}, {"weightGrams": None}):
        assert client.patch(path, json=weight).json == new | weight
    wrong = {"vaccinated": "perhaps", "weightGrams": "4200"}
    refused = client.post("/v1/pets", json=REX | wrong).json["message"]
    assert re.findall(r"(\w\S*): ", refused) == [*wrong]
    schemas = client.get("/openapi.json").json["components"]["schemas"]
    for name in ("Pet", "NewPet", "PetChange"):
        described = schemas[name]["properties"]
        assert described["vaccinated"]["type"] == ["boolean", "null"]
        assert described["weightGrams"]["maximum"] == 1_000_000
    assert {*KNOWN} < {*schemas["Pet"]["required"]}


def shown_key(page: str) -> dict[str, str]:
    """Return the hidden field of the forms of a page."""
    key = re.search('name="idempotency_key" value="(.+?)"', page)
    return {"idempotency_key": key[1]}


def test_fields_of_an_animal_are_in_its_forms(client: FlaskClient):
    page = client.get(f"/dashboard/animals/{add(client, **KNOWN)['id']}").text
    assert '<option value="yes" selected>' in page
    assert 'value="4200"' in page
    form = {"name": "Max", "categoryId": "7"} | SHOWN | shown_key(page)
    assert client.post("/dashboard/animals", data=form).status_code == 303
    added = client.get("/v1/pets").json[-1]
    assert added == {"id": added["id"], **REX, "status": "available"} | KNOWN | {
        "name": "Max"
    }
    cleared = form | dict.fromkeys(SHOWN, "")
    client.post(f"/dashboard/animals/{added['id']}", data=cleared)
    assert client.get(f"/v1/pets/{added['id']}").json == added | UNKNOWN
    wrong = client.post("/dashboard/animals", data=form | {"weightGrams": "0"})
    assert "Weight in grams must be an integer from 1 to 1000000." in wrong.text


def test_fields_of_an_animal_are_in_the_download(client: FlaskClient):
    add(client, **KNOWN)
    file = client.get("/dashboard/animals.csv").data.decode("utf-8-sig")
    heads, line = csv.reader(io.StringIO(file))
    assert heads[4:] == ["status", *KNOWN]
    assert line[4:] == ["available", "True", "4200"]


def test_resource_can_be_added_listed_and_fetched(
    app: Flask, client: FlaskClient, project: Project
):
    made = client.post("/v1/clinics", json={"name": "Paws"})
    assert (made.status_code, made.location) == (201, "/v1/clinics/1")
    clinic = {"id": 1, "name": "Paws"}
    assert client.get("/v1/clinics").json == [clinic]
    assert client.get("/v1/clinics/1").json == clinic
    assert client.post("/v1/clinics", json={}).json["message"] == "name: is required"
    assert client.get("/v1/clinics/2").status_code == 404
    assert "Clinics" in client.get("/openapi.json").json["components"]["schemas"]
    deleting = ["projects", "delete", project.slug, "--yes"]
    assert app.test_cli_runner().invoke(args=deleting).exit_code == 0


def test_plan_is_offered_and_enforced(client: FlaskClient, project: Project):
    project.change_plan(Plan("team"))
    policy = client.get("/v1/pets").headers["RateLimit-Policy"]
    assert policy == '"minute";q=600;w=60, "day";q=30000;w=86400'


def test_commands_that_need_no_argument_work(app: Flask, client: FlaskClient):
    runner, context = app.test_cli_runner(), click.Context(app.cli)

    def run(group: click.Group, *path: str) -> Iterator[tuple[str, ...]]:
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if isinstance(command, click.Group):
                yield from run(command, *path, name)
            elif name != "serve" and not any(each.required for each in command.params):
                result = runner.invoke(args=[*path, name])
                # `demo` wants no project, and some commands a single one.
                assert result.exit_code in (0, 2), result.output
                yield *path, name

    add(client)
    assert {("check",), ("keys", "list"), ("migrate",)} < {*run(app.cli)}


def test_page_is_in_the_menu_and_shows_its_figures(client: FlaskClient):
    add(client)
    assert ">Summary</a>" in client.get("/dashboard").text
    page = client.get("/dashboard/summary").text
    figures = re.findall("<li>([a-z]+: [0-9]+)</li>", page)
    assert figures == ["available: 1", "pending: 0", "sold: 0"]


def test_setting_is_read_and_used(client: FlaskClient):
    assert client.get("/openapi.json").json["info"]["title"] == "Paws"


def test_metric_is_counted(client: FlaskClient):
    listed = '^petstore_response_bytes_total{operation="list_pets"} (.*)$'

    def count() -> float:
        size = len(client.get("/v1/pets").data)
        text = client.get("/metrics").text
        return float(re.search(listed, text, re.MULTILINE)[1]) - size

    assert count() == count() - len("[]")


def test_feed_shows_available_animals_to_everybody(
    app: Flask, client: FlaskClient, project: Project
):
    ids = [add(client, status=each)["id"] for each in ("available", "sold")]
    stranger = app.test_client()
    [shown] = stranger.get(f"/feeds/{project.slug}").json["items"]
    assert shown == {"id": f"{ids[0]}", "content_text": "Rex"}
    assert stranger.get("/feeds/nobody").status_code == 404
