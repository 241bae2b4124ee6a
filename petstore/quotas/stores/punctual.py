"""Connections to Redis for which no hit waits longer than it may."""

import os
import select
import socket
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from redis import Connection, ConnectionPool, SSLConnection
from redis.exceptions import ResponseError, TimeoutError

from petstore.fibers import elsewhere, has_come, wait_for

STEP_SECONDS = 0.1
HIT_SECONDS = 0.15

_ends_at: ContextVar[float | None] = ContextVar("ends_at", default=None)
_addresses: dict[str, list[str]] = {}
_lookups: dict[str, threading.Thread] = {}


@contextmanager
def one_hit() -> Iterator[None]:
    """Let all that Redis is asked in the block take as long as one hit may."""
    token = _ends_at.set(time.monotonic() + HIT_SECONDS)
    try:
        yield
    finally:
        _ends_at.reset(token)


class PunctualConnection(Connection):
    """Finding the server, connecting, signing in and asking share one time limit."""

    def _connect(self) -> socket.socket:
        name, error = self.host, OSError(f"no address of {self.host} is known")
        try:
            for self.host in _addresses_of(name):
                self.socket_connect_timeout = _seconds_left()
                try:
                    return super()._connect()
                except OSError as refusal:
                    error = refusal
            raise error
        finally:
            self.host = name

    def read_response(self, *args: Any, **options: Any) -> Any:
        """The answer, when it comes in time."""
        options.setdefault("timeout", _seconds_left())
        return super().read_response(*args, **options)

    def ask(self, *command: Any) -> Any:
        """Send a command, and let others go on until its answer has come."""
        # What has come without being asked for is the end: the server is leaving.
        if self.is_connected and has_come(self._sock.fileno()):
            self.disconnect()
        if not self.is_connected:
            elsewhere(self.connect)
        self.send_command(*command)
        if not wait_for(self._sock.fileno(), select.POLLIN, _seconds_left()):
            raise TimeoutError("no answer in time")
        return self.read_response()


class PunctualTLSConnection(SSLConnection, PunctualConnection):
    """The same, encrypted."""


class Lines:
    """Connections that are lent for one command each."""

    def __init__(self, pool: ConnectionPool) -> None:
        self._pool = pool
        self._idle: deque[PunctualConnection] = deque()
        self._process = os.getpid()

    def evalsha(self, *arguments: Any) -> Any:
        """Run a script that the server has."""
        return self._ask("EVALSHA", *arguments)

    def eval(self, *arguments: Any) -> Any:
        """Run a script."""
        return self._ask("EVAL", *arguments)

    def _ask(self, *command: Any) -> Any:
        connection = self._lend()
        try:
            return connection.ask(*command)
        except ResponseError:
            raise
        except BaseException:
            # A late answer must not be taken for that of the next command.
            connection.disconnect()
            raise
        finally:
            self._idle.append(connection)

    def _lend(self) -> PunctualConnection:
        if self._process != os.getpid():
            # A connection must not be shared by parent and child.
            self._idle.clear()
            self._process = os.getpid()
        try:
            return self._idle.pop()
        except IndexError:
            return self._pool.make_connection()


def _seconds_left() -> float:
    ends_at = _ends_at.get()
    if ends_at is None:
        return STEP_SECONDS
    return max(0.001, min(STEP_SECONDS, ends_at - time.monotonic()))


def _addresses_of(host: str) -> list[str]:
    """What the system's resolver says of a name, in time, else what it said last."""
    lookup = _lookups.get(host)
    if lookup is None or not lookup.is_alive():
        lookup = threading.Thread(target=_look_up, args=(host,), daemon=True)
        _lookups[host] = lookup
        lookup.start()
    lookup.join(_seconds_left())
    return _addresses.get(host, [])


def _look_up(host: str) -> None:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return
    _addresses[host] = [place[0] for *_, place in found]
