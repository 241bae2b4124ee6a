"""A gunicorn worker that serves HTTP/1.1 in an event loop and shuts down gracefully."""

import asyncio
import errno
import gc
import os
import resource
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import uvloop
from gunicorn.sock import BaseSocket
from gunicorn.workers.base import Worker

from petstore import timeouts, waiting
from petstore.server import balancing
from petstore.server.connection import HttpConnection
from petstore.server.memory import Memory
from petstore.server.turns import Turns

OUT_OF_DESCRIPTORS = (errno.EMFILE, errno.ENFILE)


class EventLoopWorker(Worker):
    """Serves many connections in one thread."""

    new_event_loop = staticmethod(uvloop.new_event_loop)

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._master_pid = os.getpid()  # the worker has not been forked yet
        self._request_count = 0
        # Called before the worker accepts connections, if gunicorn_hooks.py sets it.
        self.warm_up: Callable[[], None] | None = None

    def run(self) -> None:
        """Serve until a signal stops the worker, then finish the requests under way."""
        # Objects that exist now live as long as the worker, so the garbage collector
        # need not look at them again.
        gc.freeze()
        with asyncio.Runner(loop_factory=self.new_event_loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        self.application = self.wsgi
        self.keep_alive_seconds = self.cfg.keepalive
        self.is_stopping = False
        self._loop = asyncio.get_running_loop()
        self._loop.set_default_executor(ThreadPoolExecutor(timeouts.LIMITS.threads))
        self._stopped = asyncio.Event()
        self.turns = Turns()
        self._connections: dict[HttpConnection, None] = {}
        # Those that have to send a request, in the order in which they became idle.
        self._idle: dict[HttpConnection, None] = {}
        self._looks_again_at = 0.0  # for one whose client has a response to read
        self._accepting: set[asyncio.Task[Any]] = set()
        self.memory = Memory()
        self._max_connections = min(
            self.cfg.worker_connections,
            _usable_descriptors(timeouts.LIMITS.spare_descriptors),
        )
        self._has_yielded = False
        self._loop.add_signal_handler(signal.SIGTERM, self._stop)
        self._loop.add_signal_handler(signal.SIGUSR1, self.log.reopen_files)
        for number in (signal.SIGINT, signal.SIGQUIT):
            self._loop.add_signal_handler(number, self._stopped.set)
        waiting.use_running_loop()
        if self.warm_up and (warming_up := waiting.start(self.warm_up)):
            await warming_up
        self._publish()
        for listener in self.sockets:
            self._watch(listener)
        self._tick(self._loop.time())
        if not self.alive:  # stopped before the loop ran
            self._stop()
        await self._stopped.wait()

    def add(self, connection: HttpConnection) -> None:
        """Add a connection that has begun, and is idle."""
        self._connections[connection] = self._idle[connection] = None

    def count_request(self, connection: HttpConnection) -> None:
        """Count a request, and stop the worker at gunicorn's `max_requests`."""
        self._idle.pop(connection, None)
        self._request_count += 1
        if self._request_count >= self.max_requests and not self.is_stopping:
            self._stop()

    def mark_idle(self, connection: HttpConnection) -> None:
        """Put a connection at the end of the order in which idle ones are closed."""
        self._idle[connection] = None

    def remove(self, connection: HttpConnection) -> None:
        """Remove a connection that has ended."""
        del self._connections[connection]
        self._idle.pop(connection, None)
        self.memory.forget(connection)
        self._publish()
        self._stop_if_done()

    def _watch(self, listener: BaseSocket) -> None:
        if not self.is_stopping:
            self._loop.add_reader(listener, self._accept_queued, listener)

    def _accept_queued(self, listener: BaseSocket) -> None:
        """Accept the connections in the listen queue, if it is this worker's turn.

        A burst is accepted within one iteration of the event loop: at full load, an
        iteration handles a request of every connection.
        """
        limits = timeouts.LIMITS
        for _ in range(limits.accepts):
            if self._must_yield() or not self._can_accept():
                self._loop.remove_reader(listener)
                self._loop.call_later(limits.yield_seconds, self._watch, listener)
                return
            if not self._accept(listener):
                return
            if self._connection_count > self._max_connections:
                return  # what was closed to make room still uses its descriptor

    def _must_yield(self) -> bool:
        # Give a worker with fewer connections a moment to accept, but only once: it may
        # be too busy.
        others_have_fewer = balancing.others_have_fewer(self._connection_count)
        self._has_yielded = others_have_fewer and not self._has_yielded
        return self._has_yielded

    def _can_accept(self) -> bool:
        """Return whether a connection may be accepted.

        At the limit, a connection that waits for its client is closed.
        """
        return self._connection_count < self._max_connections or self._abort_oldest()

    @property
    def _connection_count(self) -> int:
        return len(self._connections) + len(self._accepting)

    def _accept(self, listener: BaseSocket) -> bool:
        try:
            client, _ = listener.accept()
        except OSError as error:
            if error.errno in OUT_OF_DESCRIPTORS:
                self._abort_oldest()
            return False  # or another worker was faster, or the client has gone
        accepted = self._loop.create_task(
            self._loop.connect_accepted_socket(lambda: HttpConnection(self), client)
        )
        self._accepting.add(accepted)
        accepted.add_done_callback(self._on_accepted)
        self._publish()
        return True

    def _on_accepted(self, accepted: asyncio.Task[Any]) -> None:
        self._accepting.discard(accepted)
        if not accepted.cancelled():
            accepted.exception()  # ignore an error: the client has gone
        self._stop_if_done()

    def _publish(self) -> None:
        if not self.is_stopping:
            balancing.publish(self.age, self._connection_count)

    def _abort_oldest(self) -> bool:
        """Close the connection that has been idle longest, or else one with a response.

        Return False if requests are under way on all of them. To find that out takes
        milliseconds with thousands, so they are looked at again only after a moment.
        """
        now = self._loop.time()
        oldest = next((each for each in self._idle if not each.is_write_paused), None)
        if not oldest and now >= self._looks_again_at:
            waiting = (each for each in self._connections if each.is_waiting_for_client)
            oldest = next(waiting, None)
            if not oldest:
                self._looks_again_at = now + timeouts.LIMITS.look_seconds
        if oldest:
            oldest.abort()
        return oldest is not None

    def _tick(self, due: float) -> None:
        self.notify()
        if os.getppid() != self._master_pid:
            self._stop()
        self.memory.trim()
        now, seconds = self._loop.time(), timeouts.LIMITS.tick_seconds
        # If the process was suspended, first read what clients have sent meanwhile.
        if now - due < seconds:
            for connection in list(self._connections):
                if connection.deadline is not None and connection.deadline <= now:
                    connection.expire()
                connection.note_unsent()
        self._loop.call_later(seconds, self._tick, now + seconds)

    def _stop(self) -> None:
        """Stop gracefully.

        Connections in the listen queue are still accepted, and requests under way are
        finished.
        """
        if self.is_stopping:
            return
        self.is_stopping = True
        balancing.clear(self.age)
        for listener in self.sockets:
            self._loop.remove_reader(listener)
            while self._accept(listener):
                pass
            # A client that connects from now on is refused, instead of waiting in vain.
            listener.close()
        # A client gets only the time for a request that is under way, now or after the
        # response that it is waiting for.
        linger_seconds = timeouts.LIMITS.linger_seconds
        self.keep_alive_seconds = min(self.keep_alive_seconds, linger_seconds)
        for connection in self._connections:
            connection.close_soon_if_idle()
        self._loop.call_later(timeouts.LIMITS.request_seconds, self._end_keep_alive)
        self._stop_if_done()

    def _end_keep_alive(self) -> None:
        """Close each connection after its next response."""
        self.keep_alive_seconds = 0

    def _stop_if_done(self) -> None:
        if self.is_stopping and not self._connections and not self._accepting:
            self._stopped.set()


def _usable_descriptors(spare: int) -> int:
    """Raise the limit of file descriptors; return how many connections may use."""
    _, limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    return max(1, limit - spare)
