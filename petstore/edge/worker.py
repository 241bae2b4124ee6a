"""gunicorn's worker: no client holds up another before its request is whole.

One thread waits for the next socket that is ready, accepts or reads, and runs the
application once a request is complete. A client that sends half a request occupies a
buffer and no more; a request that waits for a store lets others go on.
"""

import errno
import gc
import os
import select
import time
from collections.abc import Callable
from contextlib import suppress

from gunicorn.http.message import Request
from gunicorn.sock import BaseSocket
from gunicorn.workers.base import Worker

from petstore.edge.connection import Connection
from petstore.edge.connections import Connections
from petstore.edge.door import Door
from petstore.edge.exchange import Exchange
from petstore.edge.framing import UNREADABLE, Options
from petstore.edge.refusals import refusal_of, stand_in
from petstore.fibers import LOOK_SECONDS, Fibers

REQUEST_SECONDS = 10.0  # for a request, from its first byte to its last
SEND_SECONDS = 30.0
LINGER_SECONDS = 2.0
TURN_SECONDS = 0.5
STEP_BACK_SECONDS = 0.001  # new connections are left to workers that have fewer
ANSWERS_IN_A_TURN = 8  # to requests of one client that did not wait for answers
# The answers of a turn are sent together, unless it takes long: to wake the other side
# for each takes a tenth of the time of a request.
EVENTS_IN_A_TURN = 8
HOLD_SECONDS = 0.002

NO_DESCRIPTOR_LEFT = (errno.EMFILE, errno.ENFILE)
READABLE = select.EPOLLIN | select.EPOLLONESHOT
WRITABLE = select.EPOLLOUT | select.EPOLLONESHOT


class EdgeWorker(Worker):
    """Serves HTTP/1.1: `threads` requests at once, and many more connections."""

    def init_process(self) -> None:
        """Prepare in the worker's own process, and run."""
        self.poller = select.epoll()
        self.connections = Connections(self.age)
        self.options = Options.of(self.cfg)
        self.door = Door(self.sockets, self.poller)
        self.fibers = Fibers(self.poller, self.cfg.threads)
        self.answered: list[Connection] = []
        self.looks_around_at = 0.0
        super().init_process()

    def run(self) -> None:
        """Serve until told to stop, then finish what was begun."""
        # The application is no garbage: looking through it would stop everybody.
        gc.freeze()
        self.poller.register(self.PIPE[0], select.EPOLLIN)
        while self.alive:
            self._turn()
        self._finish()

    def _finish(self) -> None:
        # Who has connected already is served; who stays connected without asking
        # anything gets a little time, since a request may be on its way.
        for listener in self.sockets:
            while self._accept(listener):
                pass
        self.door.close()
        self.connections.hurry(LINGER_SECONDS)
        while len(self.connections):
            self._turn()

    def _look_around(self) -> None:
        now = time.monotonic()
        if now >= self.looks_around_at:
            self.looks_around_at = now + TURN_SECONDS
            self.notify()
            self.connections.close_late()
            if self.ppid != os.getppid():
                self.alive = False

    def _turn(self) -> None:
        steps_back = self.alive and not self.door.is_open
        seconds = STEP_BACK_SECONDS if steps_back else TURN_SECONDS
        if len(self.fibers):
            seconds = min(seconds, LOOK_SECONDS)
        found = self.poller.poll(seconds, EVENTS_IN_A_TURN)
        if steps_back:
            self.door.open()
        send_at = time.monotonic() + HOLD_SECONDS
        for descriptor, events in found:
            self._take_up(descriptor, events)
            if time.monotonic() >= send_at:
                self._send_answers()
        if len(self.fibers):
            self.fibers.give_up()
        self._send_answers()

    def _take_up(self, descriptor: int, events: int) -> None:
        if self.fibers.go_on(descriptor, events):
            return
        if listener := self.door.socket_of(descriptor):
            if self.door.is_left_to_others(len(self.connections)):
                self.door.close()
            else:
                self._accept(listener)
        elif descriptor == self.PIPE[0]:
            with suppress(BlockingIOError):
                os.read(descriptor, 64)
        elif connection := self.connections.take(descriptor):
            self.fibers.start(self._try, self._progress, connection)

    def _send_answers(self) -> None:
        for connection in self.answered:
            self._try(self._send_off, connection)
        self.answered.clear()
        self._look_around()

    def _accept(self, listener: BaseSocket) -> bool:
        try:
            client, address = listener.accept()
        except OSError as error:
            if error.errno in NO_DESCRIPTOR_LEFT:
                self.connections.close_one()
            # Else another process was faster, or the client has left.
            return False
        connection = Connection(client, address, listener.getsockname())
        connection.give(REQUEST_SECONDS)
        if len(self.connections) >= self.cfg.worker_connections:
            self.connections.close_one()
        self.connections.add(connection)
        self.poller.register(client, READABLE)
        return True

    def _try(self, step: Callable[[Connection], None], connection: Connection) -> None:
        try:
            step(connection)
        except Exception:
            # A bug costs its own client the connection, and nobody else anything.
            self.log.exception("unexpected failure at the edge")
            self.connections.close(connection)

    def _progress(self, connection: Connection) -> None:
        """Read, and answer what is whole."""
        if connection.has_sent():
            if not connection.has_more and not connection.read():
                self.connections.close(connection)
                return
            if connection.is_idle:
                connection.is_idle = False
                connection.give(REQUEST_SECONDS)
            connection.has_more = self._answer_some(connection)
        self.answered.append(connection)

    def _send_off(self, connection: Connection) -> None:
        """Send, and wait for what comes next."""
        waits_for = READABLE
        if not connection.flush() or connection.has_more:
            connection.give(SEND_SECONDS)
            waits_for = WRITABLE
        elif connection.is_cut:
            connection.linger(LINGER_SECONDS, REQUEST_SECONDS)
        elif connection.is_closing:
            self.connections.close(connection)
            return
        connection.is_busy = False
        self.poller.modify(connection.descriptor, waits_for)

    def _answer_some(self, connection: Connection) -> bool:
        """Answer a few requests; whether others had to wait for their turn."""
        try:
            for _ in range(ANSWERS_IN_A_TURN):
                request = connection.next_request(self.options)
                if request is None:
                    return False
                self._answer(connection, request)
                if connection.is_closing:
                    return False
        except UNREADABLE as error:
            connection.cut()
            exchange = stand_in(connection, self.options, refusal_of(error))
            connection.send(exchange.run(self.wsgi))
        return not connection.is_closing

    def _answer(self, connection: Connection, request: Request) -> None:
        exchange = Exchange(request, connection.environ)
        self.nr += 1
        if self.nr >= self.max_requests:
            self.alive = False
        if connection.is_cut or not self.alive or not self.options.keepalive:
            exchange.is_last = True
        connection.send(exchange.run(self.wsgi))
        connection.is_closing = exchange.is_last
        connection.is_idle = True
        connection.give(self.options.keepalive)
