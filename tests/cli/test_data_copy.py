"""flask data copy: all rows, into an empty database of either engine."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from petstore.api.last_used import last_used
from petstore.copies import tables
from petstore.copies.transfer import GROUPS
from petstore.database import (
    BaseModel,
    CounterModel,
    Databases,
    counters,
    data,
    databases_at,
)
from petstore.models.callers import Caller
from petstore.models.domains import Domain
from petstore.models.keys import Key
from petstore.models.pets import PetTable
from petstore.models.projects import Project
from petstore.models.sessions import Secret, Session
from tests import servers
from tests.cli.outputs import printed, refusal
from tests.cli.writers import ids_of, writing
from tests.clients import Client
from tests.services import Service, serving

of_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
to_sqlite = pytest.mark.parametrize("unmigrated_url", ["sqlite"], indirect=True)
to_postgresql = pytest.mark.parametrize("unmigrated_url", ["postgresql"], indirect=True)
NAMES = ["Rex", "\\N", r"\t", "O'Malley, 'the \"cat\"'", "Zoë 🐈", " x "]


@pytest.fixture
def target(unmigrated_url: str) -> Iterator[Databases]:
    """The databases copied to, opened for inspection."""
    target = databases_at(unmigrated_url, prepares_statements=False)
    yield target
    target.close()


def contents(databases: Databases) -> dict[str, list[tuple]]:
    """Return all rows by table."""
    found = {}
    for group, database in zip(GROUPS, databases, strict=True):
        with tables.snapshot(database):
            for table in group:
                found[table.__name__] = sorted(tables.read(database, table), key=repr)
    return found


def fill(client: FlaskClient, project: Project) -> None:
    """Add at least one row to every table but Strike."""
    for number, name in enumerate(NAMES):
        body = {"name": name, "categoryId": number}
        headers = {"Idempotency-Key": str(number)}
        client.post("/v1/pets", json=body, headers=headers)
    client.post("/v1/store/orders", json={"petId": 1})
    Domain.add(project, "pets.example.org")
    Secret.shared("sessions")
    Session.begin(Caller.by_prefix(Key.all_by_id(project)[0].prefix))
    client.put("/v1/categories/1", json={"name": "Cats"})
    last_used.flush()  # or it would be written while rows are compared


def test_every_table_belongs_to_a_copied_group():
    data_tables, counter_tables = GROUPS
    assert set(data_tables) == set(BaseModel.__subclasses__())
    assert set(counter_tables) == set(CounterModel.__subclasses__())


def test_rows_are_copied_unchanged(
    flask: Callable,
    client: FlaskClient,
    project: Project,
    unmigrated_url: str,
    target: Databases,
):
    fill(client, project)
    before = contents(Databases(data.obj, counters.obj))
    count = sum(map(len, before.values()))
    assert printed(flask("data", "copy", unmigrated_url)) == f"copied {count} rows"
    assert contents(target) == before
    assert [name for name, rows in before.items() if not rows] == ["Strike"]


def test_ids_of_deleted_rows_are_not_reused(
    flask: Callable,
    client: FlaskClient,
    project: Project,
    unmigrated_url: str,
    target: Databases,
):
    fill(client, project)
    PetTable.delete().where(PetTable.id > 1).execute()
    flask("data", "copy", unmigrated_url)
    for table, last in [(PetTable, len(NAMES)), (Project, 1), (Domain, 1)]:
        assert tables.last_id(target.data, table) == last
    columns = {"project": 1, "name": "Tom", "category_id": 1, "status": "sold"}
    added = PetTable.insert(columns).returning(PetTable.id).execute(target.data)
    assert next(iter(added)).id == len(NAMES) + 1


@to_postgresql
def test_service_continues_on_the_copied_database(
    sqlite_url: str, unmigrated_url: str, tmp_path: Path
):
    environ = {"DATABASE_URL": sqlite_url, "WEB_CONCURRENCY": "2"}
    with serving(tmp_path, environ) as service, writing(service) as writers:
        before = set(writers.added)
        ended = servers.flask(environ, "data", "copy", unmigrated_url)
        assert (ended.returncode, ended.stderr) == (0, "")
    assert writers.refused == []
    with serving(tmp_path, {"DATABASE_URL": unmigrated_url}) as moved:
        kept = ids_of(moved, service.key)
        assert before <= set(kept)
        assert kept == list(range(1, len(kept) + 1))
        assert add(moved, service.key) == max(kept) + 1


def add(service: Service, key: str) -> int:
    with Client(service.url, key) as client:
        return client.post({"name": "Tom", "categoryId": 8}).json["id"]


@to_postgresql
def test_used_quota_is_copied(sqlite_url: str, unmigrated_url: str, tmp_path: Path):
    environ = {"DATABASE_URL": sqlite_url}
    with serving(tmp_path, environ) as service:
        key = service.key
        left = service.ask().day_left
        servers.flask(environ, "data", "copy", unmigrated_url)
    environ = {"DATABASE_URL": unmigrated_url}
    with servers.gunicorn(tmp_path, environ) as moved, Client(moved.url, key) as client:
        assert client.get().day_left == left - 1


def test_target_that_is_not_empty_is_refused(
    flask: Callable, project: Project, unmigrated_url: str
):
    assert flask("data", "copy", unmigrated_url).exit_code == 0
    assert refusal(flask("data", "copy", unmigrated_url)) == (
        "Nothing is copied there: it is not empty: there are rows in project."
    )


def test_source_database_is_refused_as_the_target(flask: Callable, database_url: str):
    assert refusal(flask("data", "copy", database_url)) == (
        "Nothing is copied there: it is the database of this service itself."
    )


@of_sqlite
def test_target_with_newer_migrations_is_refused(
    flask: Callable, unmigrated_url: str, target: Databases
):
    servers.flask({"DATABASE_URL": unmigrated_url}, "migrate")
    target.data.execute_sql(
        "INSERT INTO migration (name, applied) VALUES ('9999_later', '2027-01-01')"
    )
    target.close()
    assert refusal(flask("data", "copy", unmigrated_url)) == (
        "Nothing is copied there: it is of a newer version of the service (9999_later)."
    )


@of_sqlite
@pytest.mark.parametrize("url", ["x", "mysql://u:Geheimnis@h/d", "sqlite:///", ""])
def test_invalid_url_is_refused_without_showing_its_password(flask: Callable, url: str):
    message = refusal(flask("data", "copy", url))
    assert message.startswith("The argument DATABASE_URL: ")
    assert "Geheimnis" not in message


@of_sqlite
def test_unreachable_target_gives_a_one_line_error(flask: Callable):
    result = flask("data", "copy", "postgresql://u:Geheimnis@127.0.0.1:1/d")
    assert (result.exit_code, result.stdout) == (1, "")
    [line] = result.stderr.splitlines()
    assert line.startswith("Error: Nothing was copied: ")
    assert "Geheimnis" not in line


@of_sqlite
@to_postgresql
def test_failed_copy_leaves_the_target_empty(
    flask: Callable,
    client: FlaskClient,
    project: Project,
    unmigrated_url: str,
    target: Databases,
):
    fill(client, project)
    data.execute_sql("UPDATE pet SET name = 'a' || char(0) WHERE id = 3")
    result = flask("data", "copy", unmigrated_url)
    assert (result.exit_code, result.stdout) == (1, "")
    assert not any(contents(target).values())
