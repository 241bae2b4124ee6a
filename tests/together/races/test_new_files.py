"""Tests for processes that open a new SQLite file at the same time."""

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

from petstore.storage.sqlite import Sqlite

WRITING_SECONDS = 0.3


def test_switch_to_wal_waits_for_a_writer(tmp_path: Path):
    path = tmp_path / "petstore.db"
    with closing(sqlite3.connect(path, check_same_thread=False)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        end = threading.Timer(WRITING_SECONDS, writer.rollback)
        end.start()
        database = Sqlite(str(path))
        assert database.journal_mode == "wal"
        database.disconnect()
        end.join()
