"""flask data: a whole copy in one file, or in an empty database of either engine."""

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from petstore.extensions.hosting.models import Domain
from petstore.extensions.operations import copies
from petstore.extensions.operations.copies import READ_AT_ONCE, last_id
from petstore.models.keys import Key
from petstore.models.orders import withdraw_pet
from petstore.models.pets import Pet
from petstore.models.projects import Project
from petstore.models.secrets import Secret
from petstore.quotas.database import Counter
from petstore.storage import db
from petstore.storage.database import Databases, databases_at
from tests.core.cli.outputs import failure, refusal, text_of
from tests.extensions.operations.contents import contents, fill
from tests.harness import servers
from tests.harness.browser import add_pet
from tests.harness.clients import Client
from tests.harness.clocks import Clock
from tests.harness.documents import commands_below
from tests.harness.load import load
from tests.harness.services import serving
from tests.harness.shell import printed_in_shell
from tests.harness.waiting import wait_until

FIRST = 20


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "backups").mkdir()
    return tmp_path / "backups" / "today.db"


def rows(file: Path, query: str) -> list[tuple]:
    with closing(sqlite3.connect(file)) as database:
        return database.execute(query).fetchall()


def test_service_continues_from_a_backup_that_was_made_under_load(
    environ: dict[str, str], flask: Callable, tmp_path: Path, file: Path
):
    with (
        serving(tmp_path, environ) as service,
        load(service.url, [service.key] * 3, adds=True, pause_seconds=0) as clients,
    ):
        wait_until(lambda: len(clients.added) >= FIRST)
        before = {each.json["id"] for each in clients.answers if each.status == 201}
        assert text_of(flask("data", "backup", str(file))) == ""
    assert list(file.parent.iterdir()) == [file]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert clients.statuses() == {200, 201}
    ids = [pet for (pet,) in rows(file, "SELECT id FROM pet ORDER BY id")]
    assert before <= set(ids)
    assert ids == list(range(1, len(ids) + 1))
    assert rows(file, "PRAGMA integrity_check") == [("ok",)]
    assert rows(file, "PRAGMA journal_mode") == [("delete",)]
    restored = {"DATABASE_URL": f"sqlite:///{file}"}
    assert "applied 0002_counter\n" in servers.flask(restored, "migrate").stdout
    with (
        servers.gunicorn(tmp_path, restored) as gunicorn,
        Client(gunicorn.url, service.key) as client,
    ):
        assert client.post({"name": "Tom", "categoryId": 8}).json["id"] == len(ids) + 1


def test_what_is_no_new_file_is_refused(flask: Callable, file: Path):
    file.write_text("dear")
    for argument, message in (
        (str(file), f"There is {file} already; name a new file."),
        (f"{file}/today.db", f"There is no directory {file}."),
        ("", "There is . already; name a new file."),
        ("/proc", "There is /proc already; name a new file."),
    ):
        assert refusal(flask("data", "backup", argument)) == message
    assert file.read_text() == "dear"
    unwritable = flask("data", "backup", "/proc/today.db")
    assert failure(unwritable).startswith("The backup failed: ")


def test_damaged_database_is_not_backed_up(flask: Callable, file: Path):
    query = "SELECT rootpage FROM sqlite_master WHERE name = 'pet_project_id_id_folded'"
    [page] = db.execute_sql(query).fetchone()
    flask("projects", "create", "Shelter")
    db.execute_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    with db.file.open("r+b") as source:
        source.seek((page - 1) * 4096)
        source.write(os.urandom(4096))
    db.disconnect()
    result = flask("data", "backup", str(file))
    assert failure(result).startswith("The backup failed: ")
    assert list(file.parent.iterdir()) == []


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_postgresql_is_left_to_pg_dump(flask: Callable, file: Path):
    assert failure(flask("data", "backup", str(file))) == (
        "DATABASE_URL is PostgreSQL: back it up by pg_dump."
    )


def test_keys_that_a_restore_brings_back_are_revoked_again_by_the_log(
    app: Flask, project: Project, file: Path, tmp_path: Path, sqlite_url: str
):
    kept, rotated, revoked = (Key.issue(project)[:16] for _ in range(3))
    copies.back_up(db.obj, file)
    log = tmp_path / "service.log"
    for command in (["rotate", rotated], ["revoke", revoked]):
        ended = servers.flask({"DATABASE_URL": sqlite_url}, "keys", *command)
        log.write_text((log.read_text() if log.exists() else "") + ended.stderr)
    *_, script = commands_below("docs/operating.md", "Restore")
    restored = {"DATABASE_URL": f"sqlite:///{file}"}
    servers.flask(restored, "migrate")
    script = script.replace("petstore", "flask").replace(log.name, str(log))
    printed_in_shell(script, **restored)
    works = "SELECT prefix FROM api_key WHERE revoked_ms IS NULL"
    assert rows(file, works) == [(kept,)]


to_postgresql = pytest.mark.parametrize("unmigrated_url", ["postgresql"], indirect=True)
between_engines = pytest.mark.parametrize(
    ("database_url", "unmigrated_url"),
    [("sqlite", "postgresql"), ("postgresql", "sqlite")],
    indirect=True,
)
PASSWORD = "Geheimnis"
NAMES = ["Rex", "\\N", r"\t", "O'Malley, 'the \"cat\"'", "Zoë 🐈", " x "]


@pytest.fixture
def target(unmigrated_url: str) -> Iterator[Databases]:
    """The databases copied to, opened for inspection."""
    target = databases_at(unmigrated_url)
    yield target
    target.close()


@between_engines
def test_rows_are_copied_unchanged_and_ids_are_not_reused(
    environ: dict[str, str],
    flask: Callable,
    client: FlaskClient,
    project: Project,
    unmigrated_url: str,
    target: Databases,
    clock: Clock,
):
    for name in NAMES:
        add_pet(project, name)
    fill(client, project, clock)
    Secret.shared("sessions")
    row = dict.fromkeys(("ends_ms", "used", "most"), 0)
    numbers = range(2 * READ_AT_ONCE)  # more than fit into a statement
    Counter.insert_many(row | {"key": f"{number}"} for number in numbers).execute()
    withdraw_pet(project.id, add_pet(project, "Last"))
    # In a process of its own, which has imported no more than the command does.
    done = servers.flask(environ, "data", "copy", unmigrated_url)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert contents(target) == contents()
    assert Counter.select().count(target.counters) == Counter.select().count()
    assert all(contents().values())
    for table, last in [(Pet, len(NAMES) + 2), (Project, 1), (Domain, 1)]:
        assert last_id(table._meta.table_name, target.db) == last
    for url in (unmigrated_url, environ["DATABASE_URL"]):
        assert refusal(flask("data", "copy", url)) == (
            "Cannot copy there: it is not empty: there are rows in project."
        )


def test_message_about_a_target_does_not_show_its_password(flask: Callable):
    for url in ("x", f"mysql://u:{PASSWORD}@h/d", "sqlite:///", ""):
        message = refusal(flask("data", "copy", url))
        assert message.startswith("The argument DATABASE_URL: ")
        assert PASSWORD not in message
    away = flask("data", "copy", f"postgresql://u:{PASSWORD}@127.0.0.1:1/d")
    assert failure(away).startswith("Nothing was copied: ")
    assert PASSWORD not in away.stderr


@to_postgresql
def test_failed_copy_leaves_the_target_empty(
    flask: Callable,
    client: FlaskClient,
    project: Project,
    unmigrated_url: str,
    target: Databases,
    clock: Clock,
):
    fill(client, project, clock)
    Pet.update(name="a\0").execute()
    failure(flask("data", "copy", unmigrated_url))
    assert not any(contents(target).values())


[MOVE] = commands_below("docs/operating.md", "Moving to PostgreSQL")
TARGET = "postgresql://petstore@db.example.org/petstore"


@pytest.mark.parametrize("unmigrated_url", ["postgresql"], indirect=True)
def test_projects_move(project: Project, database_url: str, unmigrated_url: str):
    move = MOVE.replace(TARGET, f"'{unmigrated_url}'").replace("cat password", "echo x")
    assert printed_in_shell(move, DATABASE_URL=database_url) == ""
    moved = servers.flask({"DATABASE_URL": unmigrated_url}, "projects", "list")
    assert [line.split()[0] for line in moved.stdout.splitlines()[1:]] == [project.slug]
