"""A connection to PostgreSQL that nobody waits for when the server is silent."""

import select
import socket
import struct
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import psycopg

from petstore.fibers import elsewhere, wait_for

# A server that says nothing for so long while a connection is made is given up; while
# it works on a statement, it is asked whether it is there, since it may have to wait.
SILENT_SECONDS = 0.12
KNOCK_SECONDS = 0.1
STATEMENT_SECONDS = 2.0
# psycopg's own limit for a connection, the least that it knows.
CONNECT_SECONDS = 2

# "Do you speak TLS?", which every server answers, before it asks who is there.
SSL_REQUEST = struct.pack("!ii", 8, 80877103)


# What a step of psycopg waits for, and is told of, in the words of `select.poll`.
READ, WRITE, BOTH = 1, 2, 3
EVENTS = {
    READ: select.POLLIN,
    WRITE: select.POLLOUT,
    BOTH: select.POLLIN | select.POLLOUT,
}
READY = {select.POLLIN: READ, select.POLLOUT: WRITE}


class Connection(psycopg.Connection):
    """A connection whose server is given up when it does not answer."""

    statement_seconds: float | None = STATEMENT_SECONDS
    is_patient = False

    @classmethod
    @contextmanager
    def patience(
        cls, statement_seconds: float | None = STATEMENT_SECONDS
    ) -> Iterator[None]:
        """Wait for a server that is slow to take part, and so long for a statement."""
        cls.is_patient, cls.statement_seconds = True, statement_seconds
        try:
            yield
        finally:
            cls.is_patient, cls.statement_seconds = False, STATEMENT_SECONDS

    def wait(self, gen: Any, **options: Any) -> Any:
        """Run a step of the protocol, unless the server falls silent."""
        try:
            if self.is_patient:
                return super().wait(gen, timeout=self.statement_seconds, **options)
            waits_for = next(gen)
            ends_at = time.monotonic() + STATEMENT_SECONDS
            while True:
                waits_for = gen.send(self._listen(waits_for, ends_at))
        except StopIteration as end:
            return end.value
        except psycopg.errors._WaitTimeout:
            self.close()
            raise psycopg.OperationalError("the server took too long") from None

    def _listen(self, waits_for: int, ends_at: float) -> int:
        descriptor, events = self.pgconn.socket, EVENTS[waits_for]
        while not (found := wait_for(descriptor, events, SILENT_SECONDS)):
            if time.monotonic() > ends_at:
                raise psycopg.errors._WaitTimeout
            self._require_server()
        return READY.get(found, BOTH)  # a lost connection is found by either

    def fell_silent(self) -> None:
        """Called when the server was given up."""

    def _require_server(self) -> None:
        place = self.info.host, self.info.hostaddr, self.info.port
        if not elsewhere(answers, *place):
            self.close()
            self.fell_silent()
            _give_up()

    @classmethod
    def _connect_gen(cls, conninfo: str = "") -> Generator:
        connecting = super()._connect_gen(conninfo)
        if not cls.is_patient:
            connecting = _attend(connecting)
        return (yield from connecting)


def answers(host: str, address: str, port: int) -> bool:
    """Whether a server takes connections there at this moment."""
    is_local = host.startswith("/")
    family = socket.AF_UNIX if is_local else socket.AF_INET
    if ":" in address:
        family = socket.AF_INET6
    place = f"{host}/.s.PGSQL.{port}" if is_local else (address, port)
    try:
        with socket.socket(family) as knock:
            knock.settimeout(KNOCK_SECONDS)
            knock.connect(place)
            knock.sendall(SSL_REQUEST)
            return bool(knock.recv(1))
    except OSError:
        return False


def _attend(gen: Generator) -> Generator:
    """The steps of connecting, until the server falls silent."""
    ready = None
    heard_at = time.monotonic()
    while True:
        try:
            waits_for = gen.send(ready)
        except StopIteration as end:
            return end.value
        ready = yield waits_for
        if ready:
            heard_at = time.monotonic()
            continue
        if time.monotonic() - heard_at >= SILENT_SECONDS:
            _give_up()


def _give_up() -> NoReturn:
    raise psycopg.OperationalError("the server did not answer")
