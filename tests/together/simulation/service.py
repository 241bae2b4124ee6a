"""The service in the simulated world: its real worker, killed and started again."""

import gc
import os
import random
import sqlite3
import sys
import threading
import time
from contextlib import closing, suppress
from types import BuiltinFunctionType
from typing import Any

import gevent
import peewee
from greenlet import greenlet
from gunicorn.config import Config

from petstore import create_app, log, randomness, timeouts
from petstore.concurrency import Delayed
from petstore.models import WriteQueue, flush_queues
from petstore.server.worker import Worker
from petstore.settings import read_settings
from petstore.storage import db
from petstore.web.turns import turns_of
from tests.harness import databases
from tests.together.simulation.disk import Disk, Threads
from tests.together.simulation.loop import Hub, Killed
from tests.together.simulation.network import Network
from tests.together.simulation.redis import Redis
from tests.together.simulation.world import World

WORKERS = 2  # that share the limits during an outage; one of them is simulated
START_SECONDS = 0.3  # until a new worker runs
TRACEBACKS = (b'"exception"', b'"internal_error"')
EVENTS = (b"counters_lost", b"counters_restored", b"key_banned")
CACHES = (1, 2000)  # pages; of a large database few are cached, and each is read

_worlds: list[World] = []  # the last one is that of this process
CLOCKS = {
    time.time: lambda: _worlds[-1].now_ms() / 1000,
    time.time_ns: lambda: _worlds[-1].now_ms() * 1_000_000,
    time.monotonic: lambda: _worlds[-1].now,
    time.monotonic_ns: lambda: int(_worlds[-1].now * 1e9),
    time.perf_counter: lambda: _worlds[-1].now,
}


class Log:
    """The log of the service, and that of gunicorn."""

    def __init__(self, world: World) -> None:
        self._world = world

    def put(self, line: bytes) -> None:
        """Take a line in the place of the queue of a stream."""
        for event in EVENTS:
            self._world.counts[event.decode()] += event in line
        if any(each in line for each in TRACEBACKS):
            self.exception(line.decode())

    def exception(self, line: str, *_: Any) -> None:
        """Take a traceback, which is always a fault."""
        error = sys.exc_info()[1]
        self._world.faults.append(f"no traceback: {line[-1500:]} {error!r}")

    def info(self, line: str, *_: Any) -> None:
        """Take a line of gunicorn."""
        self._world.note("gunicorn", line)

    warning = info


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
        self.log = Log(world)
        self._remains: list[Any] = []  # what must not be collected after a kill
        self._incarnation = 0
        self.worker: Worker | None = None
        self.is_over = self.is_serving = False
        self._replace_sources()
        self._loop = self._new_loop()

    def run(self) -> None:
        """Run workers until it is over."""
        while not self.is_over:
            self.world.advance(self.world.now + START_SECONDS)
            self._run_worker()
            self.disk.outlive()

    def kill(self) -> None:
        """Kill the worker at once."""
        if not self._loop.is_killed:
            self.world.counts["kills under load"] += bool(self.network.open_sockets())
            self._loop.kill()

    def stop(self) -> None:
        """Have the worker stop gracefully."""
        if self.is_serving and not self._loop.is_killed:
            is_loaded = bool(self.network.open_sockets())
            self.world.counts["graceful stops under load"] += is_loaded
            self.worker.handle_exit(None, None)

    def look_at_turns(self) -> None:
        """Look for somebody who waits for a turn that is free."""
        turns = turns_of(self.worker.wsgi)
        for name in turns._waiting:
            if turns._has_room(name):
                self.world.faults.append(f"nobody waits who fits: {name}")

    def _new_loop(self) -> Any:
        name = f"loop {self._incarnation}"
        return Hub(self.world, self.network, Threads(self.disk), name).loop

    def _run_worker(self) -> None:
        self._incarnation += 1
        self._loop = self._new_loop()
        try:
            self.worker = self._new_worker()
            self.is_serving = True
            self.world.note("worker", f"{self._incarnation} serves")
            self.worker.run()
            self.world.note("worker", "has stopped")
            self.is_serving = False
            flush_queues()
            self._loop.kill()  # its other greenlets end with the process
            gevent.sleep(1)
        except Killed:
            self.world.note("worker", "has ended")
        self.is_serving = False
        self._end_process()

    def _end_process(self) -> None:
        """Forget what a process knows, but collect nothing: that would run code."""
        gc.unfreeze()
        known = (greenlet, Delayed, WriteQueue)
        for each in [it for it in gc.get_objects() if isinstance(it, known)]:
            if isinstance(each, greenlet):
                self._remains.append(each)
            elif isinstance(each, Delayed):
                each.is_started = False
            else:
                each._entries.clear()
        self._remains += [db.obj, self.worker]
        self.network.close_all()

    def _new_worker(self) -> Worker:
        environ = {
            "DATABASE_URL": f"sqlite:///{self.disk.file}",
            "WEB_CONCURRENCY": str(WORKERS),
            "PETSTORE_TRUSTED_PROXIES": str(self._options.get("proxies", 0)),
        }
        if self.redis:
            environ["REDIS_URL"] = "redis://redis"
        databases.forget()  # those of the process before
        app = create_app(read_settings(environ))
        pages = self.world.dice(f"cache {self._incarnation}").choice(CACHES)
        with suppress(peewee.DatabaseError):  # the disk may fail already
            db.pragma("cache_size", pages, permanent=True)
        db.close()
        config = Config()
        config.set("keepalive", 75)
        config.set("worker_connections", self._options.get("connections", 1000))
        config.set("max_requests", self._options.get("max_requests", 0))
        sockets = [self.network.listener()]
        parent = os.getppid()
        worker = Worker(self._incarnation, parent, sockets, None, 30, config, self.log)
        worker.wsgi = app
        return worker

    def _put(self, line: bytes) -> None:
        self.log.put(line)
        if self.is_serving:
            self.look_at_turns()

    def _replace_sources(self) -> None:
        """Let the service take time, chance and its log from the world."""
        _be_in(self.world)
        for stream in (log.STDOUT, log.STDERR):
            stream.put = self._put
        threading.excepthook = lambda it: self.world.faults.append(
            f"no traceback: {it.exc_value!r}"
        )


def _be_in(world: World) -> None:
    """Let this process take time and chance from the world, and no patience."""
    _worlds[:] = [world]
    timeouts.LIMITS = timeouts.Limits()
    # Many modules have clocks by names of their own.
    for module in list(sys.modules.values()):
        for name, value in list(vars(module).items()):
            if isinstance(value, BuiltinFunctionType) and value in CLOCKS:
                setattr(module, name, CLOCKS[value])
    randomness.source = world.dice("the service")
    random.seed(world.seed)
    os.urandom = world.dice("libraries").randbytes


def at_once(file: str, *statements: tuple) -> bool:
    """Write in another process, all or nothing; return False if the file is locked."""
    try:
        with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            for sql, values in statements:
                other.execute(sql, values)
            other.execute("COMMIT")
    except sqlite3.OperationalError:
        return False
    return True
