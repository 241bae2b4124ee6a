"""Permissions of SQLite's files: for the owner only."""

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from petstore.storage.sqlite import make_private


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "petstore.db"


def mode_of(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_new_database_files_are_private_under_any_umask(file: Path, umask: int):
    before = os.umask(umask)
    try:
        make_private(str(file))
        with closing(sqlite3.connect(file)) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("CREATE TABLE pet (id)")
            modes = {path.name: mode_of(path) for path in file.parent.iterdir()}
    finally:
        os.umask(before)
    names = ("petstore.db", "petstore.db-wal", "petstore.db-shm")
    assert modes == dict.fromkeys(names, 0o600)


@pytest.mark.parametrize("end", ["", "-wal", "-shm"])
def test_existing_file_is_not_changed(file: Path, end: str):
    for each in ("", "-wal", "-shm"):
        Path(f"{file}{each}").touch(0o600)
    for mode in (0o600, 0o640):
        Path(f"{file}{end}").chmod(mode)
        make_private(str(file))
        assert mode_of(Path(f"{file}{end}")) == mode
