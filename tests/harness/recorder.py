"""A gunicorn worker class that records the changes of SQLite's files.

Importing this module wraps the functions of SQLite's default file system that change a
disk: each still does its job, and adds a line to the log that disk.py reads.
"""

import ctypes
import os
import pickle
from functools import partial

from petstore.server.worker import Worker as RecordedWorker
from tests.harness.file_system import (
    DELETE,
    MAIN_JOURNAL,
    SYNC,
    TRANSFER,
    TRUNCATE,
    Methods,
    Shim,
)

__all__ = ["LOG", "RecordedWorker"]

LOG = "PETSTORE_DISK_LOG"  # the environment variable with its path


class Recorder(Shim):
    """A shim between SQLite and its files that logs each change."""

    kept = Shim.kept | MAIN_JOURNAL

    def __init__(self, log: str) -> None:
        super().__init__()
        self._log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._names: dict[int, str] = {}  # by the address of the open file
        self._delete_callback = DELETE(self._delete)
        self._system.delete = self._delete_callback

    def _open(self, system: int, path: int, file: int, flags: int, out: int) -> int:
        name = ctypes.string_at(path).decode() if path and flags & self.kept else ""
        is_new = not os.path.exists(name)
        failure = super()._open(system, path, file, flags, out)
        if name and not failure:
            self._names[file] = name
            if is_new:
                self._write_down("create", name)
        return failure

    def _replace(self, ours: Methods, theirs: Methods) -> None:
        ours.write = TRANSFER(partial(self._write, theirs))
        ours.truncate = TRUNCATE(partial(self._truncate, theirs))
        ours.sync = SYNC(partial(self._sync, theirs))

    def _write(
        self, theirs: Methods, file: int, content: int, size: int, offset: int
    ) -> int:
        failure: int = theirs.write(file, content, size, offset)
        written = ctypes.string_at(content, size)
        self._write_down("write", self._names[file], offset, written)
        return failure

    def _truncate(self, theirs: Methods, file: int, size: int) -> int:
        failure: int = theirs.truncate(file, size)
        self._write_down("truncate", self._names[file], size)
        return failure

    def _sync(self, theirs: Methods, file: int, flags: int) -> int:
        # A sync covers only what was written before it began.
        began = os.fstat(self._log).st_size
        failure: int = theirs.sync(file, flags)
        self._write_down("sync", self._names[file], began)
        return failure

    def _delete(self, system: int, path: bytes, syncs_directory: int) -> int:
        failure: int = self._original.delete(system, path, syncs_directory)
        if not failure:
            self._write_down("delete", path.decode(), bool(syncs_directory))
        return failure

    def _write_down(self, *line: object) -> None:
        os.write(self._log, pickle.dumps(line))


if LOG in os.environ:
    recorder = Recorder(os.environ[LOG])
