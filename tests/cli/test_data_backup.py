"""flask data backup: a complete copy in one file while the service is writing."""

import os
import shlex
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from flask import Flask

from petstore.models.keys import Key
from petstore.models.projects import Project
from petstore.storage import copies, db
from tests.cli.loads import adding, ids_of_added
from tests.cli.outputs import failure, refusal, text_of
from tests.harness import servers
from tests.harness.clients import Client
from tests.harness.documents import commands_below
from tests.harness.services import serving


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
    with serving(tmp_path, environ) as service, adding(service) as clients:
        before = ids_of_added(clients)
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
    applied = servers.flask(restored, "migrate").stdout.splitlines()
    assert applied == ["applied 0001_usage", "applied 0002_counter"]
    with (
        servers.gunicorn(tmp_path, restored) as gunicorn,
        Client(gunicorn.url, service.key) as client,
    ):
        assert client.post({"name": "Tom", "categoryId": 8}).json["id"] == len(ids) + 1


def test_what_is_no_new_file_is_refused(flask: Callable, file: Path):
    file.write_text("dear")
    for argument, message in (
        (str(file), f"There is a file {file} already."),
        (f"{file}/today.db", f"There is no directory {file}."),
        ("", ". is a directory; name a new file."),
        ("/proc", "/proc is a directory; name a new file."),
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


def test_backup_without_enough_space_leaves_no_file(sqlite_url: str, file: Path):
    # A limit of 40 KiB leaves room to connect, but not for the data.
    command = [sys.executable, "-m", "flask", "data", "backup", str(file)]
    ended = subprocess.run(
        ["sh", "-c", f"ulimit -f 80; exec {shlex.join(command)}"],
        cwd=servers.ROOT,
        env=os.environ | {"DATABASE_URL": sqlite_url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("Error: The backup failed: ")
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
    program = f"{shlex.quote(sys.executable)} -m flask"
    restored = os.environ | {"DATABASE_URL": f"sqlite:///{file}"}
    servers.flask(restored, "migrate")
    subprocess.run(
        ["sh", "-c", script.replace("petstore", program).replace(log.name, str(log))],
        cwd=servers.ROOT,
        env=restored,
        check=True,
    )
    works = "SELECT prefix FROM api_key WHERE revoked_ms IS NULL"
    assert rows(file, works) == [(kept,)]
