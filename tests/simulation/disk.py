"""A simulated disk below SQLite: its syncs take their time, and any call may fail."""

import _sqlite3
import asyncio
import ctypes
import shutil
import sqlite3
from collections.abc import Callable
from ctypes import CFUNCTYPE, POINTER, Structure, c_int, c_int64, c_void_p
from pathlib import Path

from tests.simulation.loop import Loop
from tests.simulation.world import World

KEPT = 0x100 | 0x80000  # SQLITE_OPEN_MAIN_DB, _WAL
# What a disk does to SQLite: the calls that fail, and the code that each gets.
READ = sqlite3.SQLITE_IOERR_READ
FAILURES = {
    "full": {"write": sqlite3.SQLITE_FULL},
    "write error": {"write": sqlite3.SQLITE_IOERR_WRITE},
    "sync error": {"sync": sqlite3.SQLITE_IOERR_FSYNC},
    "unreadable": {"read": READ},
    "gone": {"read": READ, "write": sqlite3.SQLITE_IOERR_WRITE},
}
USUAL_SECONDS = (0.0005, 0.02)  # of a COMMIT
STALLED_SECONDS = (0.2, 1.5)

_TRANSFER = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)
_SYNC = CFUNCTYPE(c_int, c_void_p, c_int)
_OPEN = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, c_void_p)


class _Methods(Structure):
    """The structure sqlite3_io_methods."""

    _fields_ = [
        ("version", c_int),
        ("close", c_void_p),
        ("read", _TRANSFER),
        ("write", _TRANSFER),
        ("truncate", c_void_p),
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
    ]


class Shim:
    """Stands between SQLite and all its files, and lets calls fail."""

    def __init__(self) -> None:
        self.failing: dict[str, int] = {}
        self.failed = 0  # calls
        find = ctypes.CDLL(_sqlite3.__file__).sqlite3_vfs_find
        find.restype = POINTER(_FileSystem)
        system = find(None).contents
        self._original = _FileSystem.from_buffer_copy(system)
        self._ours: dict[int, tuple[_Methods, _Methods]] = {}
        self._callback = _OPEN(self._open)  # a reference that keeps it alive
        system.open = self._callback

    def _open(self, system: int, path: int, file: int, flags: int, out: int) -> int:
        failure: int = self._original.open(system, path, file, flags, out)
        if flags & KEPT and not failure:
            opened = _File.from_address(file)
            place = ctypes.addressof(opened.methods.contents)
            if place not in self._ours:
                self._ours[place] = self._wrapped(opened.methods.contents)
            opened.methods = ctypes.pointer(self._ours[place][1])
        return failure

    def _wrapped(self, theirs: _Methods) -> tuple[_Methods, _Methods]:
        theirs = _Methods.from_buffer_copy(theirs)
        ours = _Methods.from_buffer_copy(theirs)

        def sync(_file: int, _flags: int) -> int:
            return self._fails("sync")  # nothing has to outlive the machine

        ours.read = _TRANSFER(lambda *call: self._fails("read") or theirs.read(*call))
        ours.write = _TRANSFER(
            lambda *call: self._fails("write") or theirs.write(*call)
        )
        ours.sync = _SYNC(sync)
        return theirs, ours

    def _fails(self, call: str) -> int:
        code = self.failing.get(call, 0)
        self.failed += code > 0
        return code


class Disk:
    """The files of the service, and the COMMITs that are under way."""

    def __init__(self, world: World, shim: Shim, template: Path, root: Path) -> None:
        self.world = world
        self.shim = shim
        self._dice = world.dice("disk")
        self._root = root
        self._source = template
        self._copies = 0
        self.is_stalled = False

    @property
    def file(self) -> Path:
        """The database."""
        return self._source / "petstore.db"

    def outlive(self) -> None:
        """Go on with copies of the files, as they are after a process has ended.

        The connections of the killed process may stay open on what was copied.
        """
        self._copies += 1
        target = self._root / str(self._copies)
        target.mkdir()
        for each in self._source.iterdir():
            if not each.name.endswith("-shm"):
                shutil.copy(each, target)
        self._source = target

    def break_down(self, how: str) -> None:
        """Let the calls of a kind fail, or none."""
        self.shim.failing = FAILURES.get(how, {})

    def commit_seconds(self) -> float:
        """Return how long the next COMMIT takes."""
        return self._dice.uniform(
            *STALLED_SECONDS if self.is_stalled else USUAL_SECONDS
        )


def writer_on(disk: Disk) -> type:
    """Return a class of writers whose COMMIT takes virtual time instead of a thread."""
    return type("Writer", (SimulatedWriter,), {"disk": disk})


class SimulatedWriter:
    """A connection that commits after a while; it stands in for a `Writer`."""

    disk: Disk

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.is_closed = False
        self._loop = asyncio.get_running_loop()
        assert isinstance(self._loop, Loop)
        self._kept = self._undone = 0  # requests of the transaction
        # Of a large database few pages are cached: then statements read, and write.
        pages = self.disk.world.dice("cache").choice((1, 2000))
        connection.execute(f"PRAGMA cache_size = {pages}")
        connection.set_trace_callback(self._count)

    def commit(self, callback: Callable[[sqlite3.Error | None], None]) -> None:
        """Commit at some moment, and call back at a later one."""
        world, seconds = self.disk.world, self.disk.commit_seconds()
        moment = seconds * world.dice(f"commit {world.now}").random()
        world.after(moment, self._commit, callback, seconds - moment)

    def close(self) -> None:
        """Close the connection."""
        self.is_closed = True
        self.connection.close()

    def _commit(
        self, callback: Callable[[sqlite3.Error | None], None], seconds: float
    ) -> None:
        if self._loop.selector.is_killed:
            return
        world, failure = self.disk.world, None
        try:
            self.connection.execute("COMMIT")
        except sqlite3.Error as error:
            failure = error
            world.counts["failed commits"] += 1
        world.counts["shared commits"] += self._kept >= 2
        world.counts["rollbacks beside a commit"] += self._undone > 0 and not failure
        world.note("disk", f"COMMIT of {self._kept + 1}: {failure or 'done'}")
        self._kept = self._undone = 0
        world.after(seconds, self._call_back, callback, failure)

    def _call_back(
        self,
        callback: Callable[[sqlite3.Error | None], None],
        failure: sqlite3.Error | None,
    ) -> None:
        if not (self._loop.is_closed() or self._loop.selector.is_killed):
            self._loop.call_soon_threadsafe(callback, failure)

    def _count(self, sql: str) -> None:
        self._kept += sql == "RELEASE request"
        if sql == "ROLLBACK TO request":
            self._undone += 1
            self._kept -= 1  # its RELEASE follows
