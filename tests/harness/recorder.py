"""A gunicorn worker class that records the changes of SQLite's files.

Importing this module wraps the functions of SQLite's default file system that change a
disk: each still does its job, and adds a line to the log that disk.py reads.
"""

import _sqlite3
import ctypes
import os
import pickle
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int64, c_void_p

from petstore.server.worker import EventLoopWorker as RecordedWorker

__all__ = ["LOG", "RecordedWorker"]

LOG = "PETSTORE_DISK_LOG"  # the environment variable with its path
KEPT = 0x100 | 0x800 | 0x80000  # SQLITE_OPEN_MAIN_DB, _MAIN_JOURNAL, _WAL

_WRITE = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)
_TRUNCATE = CFUNCTYPE(c_int, c_void_p, c_int64)
_SYNC = CFUNCTYPE(c_int, c_void_p, c_int)
_OPEN = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, c_void_p)
_DELETE = CFUNCTYPE(c_int, c_void_p, c_char_p, c_int)


class _Methods(Structure):
    """The structure sqlite3_io_methods."""

    _fields_ = [
        ("version", c_int),
        ("close_and_read", c_void_p * 2),
        ("write", _WRITE),
        ("truncate", _TRUNCATE),
        ("sync", _SYNC),
        ("others", c_void_p * 13),
    ]


class _File(Structure):
    """The beginning of the structure sqlite3_file."""

    _fields_ = [("methods", POINTER(_Methods))]


class _FileSystem(Structure):
    """The beginning of the structure sqlite3_vfs."""

    _fields_ = [
        ("sizes", c_int * 3),
        ("next_name_and_app_data", c_void_p * 3),
        ("open", _OPEN),
        ("delete", _DELETE),
    ]


class Recorder:
    """A shim between SQLite and its files that logs each change."""

    def __init__(self, file_system: _FileSystem, log: str) -> None:
        self._log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        # By the address of the open file: its path and its original methods.
        self._files: dict[int, tuple[str, _Methods]] = {}
        self._methods: dict[int, tuple[_Methods, _Methods]] = {}  # original, ours
        self._file_system = _FileSystem.from_buffer_copy(file_system)
        # Without a reference these two would be garbage-collected.
        self._calls = _OPEN(self._open), _DELETE(self._delete)
        file_system.open, file_system.delete = self._calls

    def _open(self, system: int, path: int, file: int, flags: int, out: int) -> int:
        name = ctypes.string_at(path).decode() if path and flags & KEPT else ""
        is_new = not os.path.exists(name)
        failure = self._file_system.open(system, path, file, flags, out)
        if name and not failure:
            self._files[file] = name, self._stand_between(_File.from_address(file))
            if is_new:
                self._write_down("create", name)
        return failure

    def _stand_between(self, file: _File) -> _Methods:
        """Replace the methods of the file with ours and return the original ones."""
        place = ctypes.addressof(file.methods.contents)
        if place not in self._methods:
            ours = _Methods.from_buffer_copy(file.methods.contents)
            ours.write = _WRITE(self._write)
            ours.truncate = _TRUNCATE(self._truncate)
            ours.sync = _SYNC(self._sync)
            self._methods[place] = file.methods.contents, ours
        theirs, ours = self._methods[place]
        file.methods = ctypes.pointer(ours)
        return theirs

    def _write(self, file: int, content: int, size: int, offset: int) -> int:
        name, methods = self._files[file]
        failure = methods.write(file, content, size, offset)
        self._write_down("write", name, offset, ctypes.string_at(content, size))
        return failure

    def _truncate(self, file: int, size: int) -> int:
        name, methods = self._files[file]
        failure = methods.truncate(file, size)
        self._write_down("truncate", name, size)
        return failure

    def _sync(self, file: int, flags: int) -> int:
        # A sync covers only what was written before it began.
        began = os.fstat(self._log).st_size
        name, methods = self._files[file]
        failure = methods.sync(file, flags)
        self._write_down("sync", name, began)
        return failure

    def _delete(self, system: int, path: bytes, syncs_directory: int) -> int:
        failure = self._file_system.delete(system, path, syncs_directory)
        if not failure:
            self._write_down("delete", path.decode(), bool(syncs_directory))
        return failure

    def _write_down(self, *line: object) -> None:
        os.write(self._log, pickle.dumps(line))


def default_file_system() -> _FileSystem:
    """Return the file system that SQLite uses in this process."""
    find = ctypes.CDLL(_sqlite3.__file__).sqlite3_vfs_find
    find.restype = POINTER(_FileSystem)
    return find(None).contents


if LOG in os.environ:
    recorder = Recorder(default_file_system(), os.environ[LOG])
