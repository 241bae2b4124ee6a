"""The service in the simulated world: its real worker, killed and started again."""

import asyncio
import os
import sqlite3
import time
from contextlib import closing
from functools import partial
from typing import Any, NamedTuple

from gunicorn.config import Config
from petstore.storage.engines.group_commit import GroupCommit

from petstore import clock, create_app, randomness, timeouts, waiting
from petstore.events import streams
from petstore.models.failed_requests import failures
from petstore.models.key_usage import uses
from petstore.models.row_limits import row_limits
from petstore.monitoring import health
from petstore.quotas import fallback
from petstore.server import balancing
from petstore.server.worker import EventLoopWorker
from petstore.settings import read_settings
from petstore.storage import db
from tests.simulation.disk import Disk, writer_on
from tests.simulation.loop import Killed, Loop
from tests.simulation.network import Listener, Network
from tests.simulation.redis import Redis
from tests.simulation.world import World

WORKERS = 2  # that share the limits during an outage; one of them is simulated
START_SECONDS = 0.3  # until a new worker runs
TRACEBACK = b'"exception"'


class Log:
    """The log of the service, and that of gunicorn."""

    def __init__(self, world: World) -> None:
        self._world = world

    def write(self, _descriptor: int, line: bytes) -> None:
        """Take a line in the place of `streams.write`."""
        for event in (b"counters_lost", b"counters_restored", b"key_banned"):
            self._world.counts[event.decode()] += event in line
        if TRACEBACK in line or b'"internal_error"' in line:
            self.exception(line.decode())

    def exception(self, line: str, *_: Any) -> None:
        """Take a traceback, which is always a fault."""
        self._world.faults.append(f"no traceback: {line[-1500:]}")

    def reopen_files(self) -> None:
        """Do nothing: there is no file."""


class Part(NamedTuple):
    """What of a worker's process must not be collected after its kill."""

    worker: EventLoopWorker
    tasks: set[asyncio.Task[Any]]
    loop: Loop


class EndedLoop:
    """Stands for the loop of a process that ends: what would begin later never does."""

    def is_closed(self) -> bool:
        return False

    def call_soon_threadsafe(self, *_: Any) -> None:
        pass


class Service:
    """One worker at a time, as gunicorn's master would start it."""

    def __init__(
        self,
        world: World,
        network: Network,
        disk: Disk,
        redis: Redis | None,
        options: dict[str, int],
    ) -> None:
        self.world, self.network, self.disk, self.redis = world, network, disk, redis
        self._options = options
        self._log = Log(world)
        self._remains: list[Part] = []
        self._incarnation = 0
        self.worker: EventLoopWorker | None = None
        self.loop: Loop | None = None
        self.is_over = False
        self.is_starting = True
        self._replace_sources()

    def run(self) -> None:
        """Run workers until it is over."""
        while not self.is_over:
            self.is_starting = True
            self.world.advance(self.world.now + START_SECONDS)
            self._run_worker()
            self.disk.outlive()

    def kill(self) -> None:
        """Kill the worker at once."""
        if self.loop and not self.loop.selector.is_killed:
            self.world.counts["kills under load"] += bool(self._under_way())
            self.loop.selector.kill()

    def stop(self) -> None:
        """Have the worker stop gracefully."""
        if self.loop and self.loop.handlers and not self.loop.selector.is_killed:
            self.world.counts["graceful stops under load"] += bool(self._under_way())
            self.loop.terminate()

    def _under_way(self) -> int:
        return self.network.open_sockets() - bool(self.redis)

    def _run_worker(self) -> None:
        self._incarnation += 1
        worker = self.worker = self._new_worker()
        try:
            worker.run()
            self.world.note("worker", "has stopped")
            db.dispose()
            waiting._main.loop = EndedLoop()
            failures.flush()
            uses.flush()
        except Killed:
            self.world.note("worker", "was killed")
        finally:
            self.loop = None
        balancing.clear(worker.age)
        self.network.close_all()
        _forget_process()

    def _new_worker(self) -> EventLoopWorker:
        environ = {
            "DATABASE_URL": f"sqlite:///{self.disk.file}",
            "WEB_CONCURRENCY": str(WORKERS),
        }
        if self.redis:
            environ["REDIS_URL"] = "redis://redis"
        app = create_app(read_settings(environ))
        config = Config()
        config.set("keepalive", 75)
        config.set("worker_connections", self._options.get("connections", 1000))
        listeners = [Listener(self.network)]
        master = os.getppid()
        worker = EventLoopWorker(
            self._incarnation, master, listeners, None, 30, config, self._log
        )
        worker._master_pid = os.getppid()  # it has not been forked from here
        worker.wsgi = app
        worker.max_requests = self._options.get("max_requests", worker.max_requests)
        worker.warm_up = partial(self._warm_up, worker)
        worker.new_event_loop = self._new_loop
        worker.notify = lambda: None
        return worker

    def _new_loop(self) -> Loop:
        self.loop = Loop(self.world, self.network, f"loop {self._incarnation}")
        return self.loop

    def _warm_up(self, worker: EventLoopWorker) -> None:
        self._remains.append(Part(worker, asyncio.all_tasks(), self.loop))
        health.warm_up(worker.wsgi)
        self.is_starting = False
        self.world.note("worker", f"{self._incarnation} serves")

    def _replace_sources(self) -> None:
        """Let the service take time, chance, commits and its log from the world."""
        be_in(self.world)
        streams.write = self._log.write
        GroupCommit.new_writer = writer_on(self.disk)
        fallback.outage_logged[0] = 0


def be_in(world: World) -> None:
    """Let this process take time and chance from the world, and no patience."""
    timeouts.LIMITS = timeouts.Limits()
    clock.now_ms = world.now_ms
    clock.monotonic = lambda: world.now
    # Of a worker that has ended, and waits for a locked file.
    time.sleep = lambda seconds: world.advance(world.now + seconds)
    randomness.source = world.dice("the service")
    os.urandom = world.dice("libraries").randbytes


def _forget_process() -> None:
    """Forget what a process knows besides its application."""
    uses.__init__()
    failures.__init__()
    row_limits.forget()
    row_limits.__dict__["_is_counting"] = False
    waiting.background_tasks.clear()
    waiting._places.clear()


def at_once(file: str, sql: str, *values: Any) -> bool:
    """Write in another process; return False while the file is locked."""
    try:
        with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as other:
            other.execute(sql, values)
    except sqlite3.OperationalError:
        return False
    return True
