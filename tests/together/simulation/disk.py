"""A simulated disk below SQLite: its syncs take their time, and any call may fail."""

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gevent
import peewee
from gevent.event import AsyncResult

from tests.harness.file_system import SYNC, TRANSFER, Methods, Shim
from tests.together.simulation.world import World

# What a disk does to SQLite: the calls that fail, and the code that each gets.
READ = sqlite3.SQLITE_IOERR_READ
FAILURES = {
    "full": {"write": sqlite3.SQLITE_FULL},
    "write error": {"write": sqlite3.SQLITE_IOERR_WRITE},
    "sync error": {"sync": sqlite3.SQLITE_IOERR_FSYNC},
    "unreadable": {"read": READ},
    "gone": {"read": READ, "write": sqlite3.SQLITE_IOERR_WRITE},
}
USUAL = (0.0005, 0.02)  # seconds of a COMMIT
STALLED = (0.2, 1.5)


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
        self.commits = 0

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
        return self._dice.uniform(*STALLED if self.is_stalled else USUAL)


class Threads:
    """Takes the place of gevent's thread pool, which runs COMMITs and long queries.

    A COMMIT happens at some moment, and the greenlet goes on at a later one. If it is
    killed or times out meanwhile, the COMMIT happens all the same, as in a thread.
    """

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._dice = disk.world.dice("commits")

    def spawn(self, execute: Callable[..., Any], *args: str) -> AsyncResult:
        """Execute a statement, while other greenlets go on."""
        seconds, done = self._disk.commit_seconds(), AsyncResult()
        moment = seconds * self._dice.random()
        rest, loop = seconds - moment, gevent.get_hub().loop
        self._disk.world.after(moment, self._commit, loop, execute, args, done, rest)
        return done

    def _commit(
        self, loop: Any, execute: Any, args: Any, done: AsyncResult, seconds: float
    ) -> None:
        if loop.is_killed:
            return
        world, tell = self._disk.world, done.set
        try:
            result: Any = execute(*args)
        except (sqlite3.Error, peewee.DatabaseError) as error:
            tell, result = done.set_exception, error
            world.counts["failed commits"] += 1
        self._disk.commits += 1
        outcome = result if tell != done.set else "done"
        world.note("disk", f"{execute.__name__}: {outcome}")
        world.after(seconds, self._go_on, loop, tell, result)

    def _go_on(self, loop: Any, tell: Callable[..., None], result: Any) -> None:
        if not loop.is_killed:
            loop.run_callback(tell, result)

    def kill(self) -> None:
        """End, as the hub does."""
