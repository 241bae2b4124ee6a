"""A simulated disk below SQLite: its syncs take their time, and any call may fail."""

import asyncio
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

from tests.harness.file_system import SYNC, TRANSFER, Methods, Shim
from tests.simulation.loop import Loop
from tests.simulation.world import World

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


class FailingFiles(Shim):
    """Lets calls of SQLite fail."""

    def __init__(self) -> None:
        super().__init__()
        self.failing: dict[str, int] = {}
        self.failed = 0  # calls

    def _replace(self, ours: Methods, theirs: Methods) -> None:
        def read(*call: int) -> int:
            return self._fails("read") or theirs.read(*call)

        def write(*call: int) -> int:
            return self._fails("write") or theirs.write(*call)

        def sync(_file: int, _flags: int) -> int:
            return self._fails("sync")  # nothing has to outlive the machine

        ours.read, ours.write, ours.sync = TRANSFER(read), TRANSFER(write), SYNC(sync)

    def _fails(self, call: str) -> int:
        code = self.failing.get(call, 0)
        self.failed += code > 0
        return code


class Disk:
    """The files of the service, and the COMMITs that are under way."""

    def __init__(
        self, world: World, shim: FailingFiles, template: Path, root: Path
    ) -> None:
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
