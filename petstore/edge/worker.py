"""gunicorn's worker: no client holds a thread before its request is whole.

Each thread waits for the next socket that is ready, accepts or reads, and runs the
application in place once a request is complete. Nothing is handed from thread to
thread, and a client that sends half a request occupies a buffer and no more.
"""

import errno
import os
import select
import threading
import time
from contextlib import suppress

from gunicorn.http import wsgi
from gunicorn.http.message import Request
from gunicorn.sock import BaseSocket
from gunicorn.workers.base import Worker

from petstore.edge.connection import Connection
from petstore.edge.connections import Connections
from petstore.edge.framing import UNREADABLE
from petstore.edge.refusals import refusal_of, stand_in

REQUEST_SECONDS = 10.0  # for a request, from its first byte to its last
SEND_SECONDS = 30.0
LINGER_SECONDS = 2.0
TURN_SECONDS = 0.5
ANSWERS_IN_A_TURN = 8  # to requests of one client that did not wait for answers

NO_DESCRIPTOR_LEFT = (errno.EMFILE, errno.ENFILE)
ACCEPTABLE = select.EPOLLIN | select.EPOLLEXCLUSIVE
READABLE = select.EPOLLIN | select.EPOLLONESHOT
WRITABLE = select.EPOLLOUT | select.EPOLLONESHOT


class EdgeWorker(Worker):
    """Serves HTTP/1.1 with `threads` threads, and many more connections than that."""

    def init_process(self) -> None:
        """Prepare in the worker's own process, and run."""
        self.poller = select.epoll()
        self.connections = Connections()
        self.listeners = {listener.fileno(): listener for listener in self.sockets}
        self.looks_around_at = 0.0
        super().init_process()

    def run(self) -> None:
        """Serve until told to stop, then finish what was begun."""
        self.poller.register(self.PIPE[0], select.EPOLLIN)
        for descriptor, listener in self.listeners.items():
            listener.setblocking(False)
            self.poller.register(descriptor, ACCEPTABLE)
        helpers = [
            threading.Thread(target=self._take_turns, daemon=True)
            for _ in range(self.cfg.threads - 1)
        ]
        for helper in helpers:
            helper.start()
        while self.alive:
            self._turn()
            self._look_around()
        for helper in helpers:
            helper.join()
        self._finish()

    def _take_turns(self) -> None:
        while self.alive:
            self._turn()

    def _finish(self) -> None:
        # Who has connected already is served; who stays connected without asking
        # anything gets a little time, since a request may be on its way.
        for descriptor, listener in self.listeners.items():
            while self._accept(listener):
                pass
            self.poller.unregister(descriptor)
        self.connections.hurry(LINGER_SECONDS)
        while len(self.connections):
            self._turn()
            self._look_around()

    def _look_around(self) -> None:
        now = time.monotonic()
        if now >= self.looks_around_at:
            self.looks_around_at = now + TURN_SECONDS
            self.notify()
            self.connections.close_late()
            if self.ppid != os.getppid():
                self.alive = False

    def _turn(self) -> None:
        for descriptor, _event in self.poller.poll(TURN_SECONDS, 1):
            if descriptor in self.listeners:
                self._accept(self.listeners[descriptor])
            elif descriptor == self.PIPE[0]:
                with suppress(BlockingIOError):
                    os.read(descriptor, 64)
            elif connection := self.connections.take(descriptor):
                self._serve(connection)

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

    def _serve(self, connection: Connection) -> None:
        try:
            self._progress(connection)
        except Exception:
            # A bug costs its own client the connection, and nobody else anything.
            self.log.exception("unexpected failure at the edge")
            self.connections.close(connection)

    def _progress(self, connection: Connection) -> None:
        """Read, answer what is whole, send, and wait for what comes next."""
        if connection.has_sent():
            if not connection.has_more and not connection.read():
                self.connections.close(connection)
                return
            if connection.is_idle:
                connection.is_idle = False
                connection.give(REQUEST_SECONDS)
            connection.has_more = self._answer_some(connection)
        if not connection.flush() or connection.has_more:
            connection.give(SEND_SECONDS)
            self._wait(connection, WRITABLE)
        elif connection.is_cut:
            connection.linger(LINGER_SECONDS, REQUEST_SECONDS)
            self._wait(connection, READABLE)
        elif connection.is_closing:
            self.connections.close(connection)
        else:
            self._wait(connection, READABLE)

    def _wait(self, connection: Connection, for_what: int) -> None:
        connection.is_busy = False
        self.poller.modify(connection.descriptor, for_what)

    def _answer_some(self, connection: Connection) -> bool:
        """Answer a few requests; whether others had to wait for their turn."""
        try:
            for _ in range(ANSWERS_IN_A_TURN):
                request = connection.next_request(self.cfg)
                if request is None:
                    return False
                self._answer(connection, request)
                if connection.is_closing:
                    return False
        except UNREADABLE as error:
            connection.cut()
            response, environ = stand_in(connection, self.cfg, refusal_of(error))
            self._run(environ, response)
        return not connection.is_closing

    def _answer(self, connection: Connection, request: Request) -> None:
        response, environ = wsgi.create(
            request, connection, connection.address, connection.server, self.cfg
        )
        self.nr += 1
        if self.nr >= self.max_requests:
            self.alive = False
        if connection.is_cut or not self.alive or not self.cfg.keepalive:
            response.force_close()
        self._run(environ, response)
        connection.is_closing = response.should_close()
        connection.is_idle = True
        connection.give(self.cfg.keepalive)

    def _run(self, environ: dict, response: wsgi.Response) -> None:
        body = self.wsgi(environ, response.start_response)
        try:
            for part in body:
                response.write(part)
            response.close()
        finally:
            if hasattr(body, "close"):
                body.close()
