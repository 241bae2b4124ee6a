"""Permissions of SQLite's files: for the owner only."""

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from petstore.storage.sqlite import Sqlite, make_private


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o777])
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "petstore.db"


def mode_of(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


@pytest.mark.usefixtures("umask")
def test_new_database_files_are_private_under_any_umask(file: Path):
    make_private(str(file))
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE pet (id)")
        modes = {path.name: mode_of(path) for path in file.parent.iterdir()}
    names = ("petstore.db", "petstore.db-wal", "petstore.db-shm")
    assert modes == dict.fromkeys(names, 0o600)


def test_existing_file_is_not_changed(file: Path):
    file.write_text("dear")
    file.chmod(0o640)
    make_private(str(file))
    assert (file.read_text(), mode_of(file)) == ("dear", 0o640)


@pytest.mark.parametrize(
    ("mode", "is_open"), [(0o600, False), (0o640, True), (0o604, True), (0o622, False)]
)
@pytest.mark.parametrize("end", ["", "-wal", "-shm"])
def test_file_readable_by_others_is_detected(
    file: Path, end: str, mode: int, is_open: bool
):
    make_private(str(file))
    beside = Path(f"{file}{end}")
    beside.touch()
    beside.chmod(mode)
    for other in file.parent.iterdir():
        if other != beside:
            other.chmod(0o600)
    assert Sqlite(str(file)).is_readable_by_others() == is_open
