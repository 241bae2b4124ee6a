"""gunicorn's gevent worker, with limits for its connections and a graceful stop."""

import gc
import os
import resource
import sys
from contextlib import suppress
from typing import Any

import gevent
from gevent import monkey
from gevent.pool import Pool
from gunicorn.sock import BaseSocket
from gunicorn.workers.ggevent import GeventWorker

from petstore import clock, timeouts
from petstore.server.connection import Connection


class Worker(GeventWorker):
    @staticmethod
    def setup() -> None:
        """Let other greenlets go on where the standard library waits.

        gunicorn calls this in its master, before it imports the application. What the
        master needs to fork, wait for workers and handle signals stays as it is: gevent
        would take SIGCHLD from it. The service itself runs no programs.
        """
        monkey.patch_all(os=False, signal=False, subprocess=False)
        # gevent raises an error of a thread again where its result is awaited. There it
        # is handled, so gevent need not print it.
        gevent.get_hub().exception_stream = None

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        # Idle connections wait for another request. Slow ones wait for a first request,
        # for the rest of one, or until a response is read. Both are in the order in
        # which they began to wait.
        self._idle: dict[Connection, None] = {}
        self._slow: dict[Connection, None] = {}

    def patch(self) -> None:
        """Change nothing: the sockets are gevent's, since `setup` ran before."""

    def notify(self) -> None:
        """Tell the master that the worker is alive; stop if the master is not."""
        self.tmp.notify()
        if self.ppid != os.getppid():
            self.alive = False

    def run(self) -> None:
        """Serve until a signal stops the worker, then finish the requests under way."""
        # Objects that exist now live as long as the worker, so the garbage collector
        # need not look at them again.
        gc.freeze()
        room = open_files() - timeouts.LIMITS.spare_descriptors
        self._connections = Pool(max(1, min(self.worker_connections, room)))
        accepting = [gevent.spawn(self._accept, each) for each in self.sockets]
        # If one of them fails, the master starts another worker.
        while self.alive and not any(each.ready() for each in accepting):
            self.notify()
            gevent.sleep(timeouts.LIMITS.tick_seconds)
        self.alive = False
        gevent.killall(accepting)
        for listener in self.sockets:
            self._accept_queued(listener)
            # A client that connects from now on is refused, instead of waiting in vain.
            listener.close()
        self._finish()

    def count_request(self) -> None:
        """Count a request, and stop the worker at gunicorn's `max_requests`."""
        self.nr += 1
        if self.nr >= self.max_requests:
            self.alive = False

    def add_waiting(self, connection: Connection) -> None:
        """Note that a connection waits for its client: it may have to make room."""
        if connection.is_idle and not connection.is_new:
            self._idle[connection] = None
        else:
            self._idle.pop(connection, None)
            self._slow[connection] = None
        self._make_room()

    def remove_waiting(self, connection: Connection) -> None:
        self._idle.pop(connection, None)
        self._slow.pop(connection, None)

    def _accept(self, listener: BaseSocket) -> None:
        listener.setblocking(True)  # for this greenlet
        while True:
            self._connections.wait_available()
            try:
                self._serve(*listener.accept())
            except OSError:  # the client has gone, or there are no descriptors
                gevent.sleep(timeouts.LIMITS.accept_pause_seconds)
            gevent.sleep(0)  # others go on, and other workers accept, too

    def _accept_queued(self, listener: BaseSocket) -> None:
        listener.setblocking(False)
        with suppress(OSError):  # there are no more
            for _ in range(self.cfg.backlog):
                self._serve(*listener.accept())

    def _serve(self, client: Any, address: Any) -> None:
        connection = Connection(self, client, address)
        self._connections.spawn(connection.serve)
        self.add_waiting(connection)

    def _make_room(self) -> None:
        """End the connection that has waited longest if there is no room for another.

        If requests are under way on all of them, one that ends makes room.
        """
        waiting = self._idle or self._slow
        if waiting and self._connections.full():
            next(iter(waiting)).end()

    def _finish(self) -> None:
        ends = clock.monotonic() + self.cfg.graceful_timeout
        self._connections.join(timeouts.LIMITS.notice_seconds)
        while self._connections and clock.monotonic() < ends:
            self.notify()
            for connection in [*self._idle, *self._slow]:
                if connection.is_idle:
                    connection.end()
            self._connections.join(timeouts.LIMITS.tick_seconds)


def open_files() -> int:
    """Let the process open as many files as the system allows; return how many."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):  # some systems refuse the limit that they name
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if limit == resource.RLIM_INFINITY else limit
