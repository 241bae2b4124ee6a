"""Rows in every table, and what the tables contain."""

from flask.testing import FlaskClient

from petstore.extensions.dashboard.merges import Merge
from petstore.extensions.dashboard.models import Session, Upload
from petstore.extensions.hosting.models import Domain
from petstore.extensions.operations.copies import read, snapshot
from petstore.extensions.operations.tables import stored_tables
from petstore.extensions.sheets.models import Import
from petstore.models import flush_queues
from petstore.models.callers import Caller
from petstore.models.categories import Category
from petstore.models.keys import Key
from petstore.models.projects import Plan, Project
from petstore.storage.database import Databases, opened_databases
from tests.harness.clocks import Clock


def fill(client: FlaskClient, project: Project, clock: Clock) -> None:
    """Add at least one row of the project to every table."""
    pet = {"name": "Rex", "categoryId": 1}
    first = client.post("/v1/pets", json=pet, headers={"Idempotency-Key": "1"})
    client.post("/v1/store/orders", json={"petId": first.json["id"]})
    for number in (2, 3):
        Category.ensure(project.id, number)
    Import.record(project.id, 1, [])
    Merge.begin(project.id, 2, 3)
    Domain.add(project, "pets.example.org")
    Key.issue(project)
    session = Session.begin(Caller.find_by_prefix(Key.all_by_id(project)[0].prefix))
    Upload.keep(session, b"name,category")
    project.change_plan(Plan("enterprise", 1, 9))
    for _ in range(3):
        client.get("/v1/pets")
        clock.move(seconds=2)
    flush_queues()  # or they would be written while rows are compared


def contents(databases: Databases | None = None) -> dict[str, list[tuple]]:
    """Return all rows by table."""
    databases, found = databases or opened_databases(), {}
    for group, database in zip(stored_tables(databases), databases, strict=True):
        with snapshot(database):
            for table in group:
                names = [each.name for each in database.get_columns(table.name)]
                found[table.name] = sorted(read(table, names, database), key=repr)
    return found
