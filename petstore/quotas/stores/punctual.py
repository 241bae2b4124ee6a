"""Connections to Redis for which no hit waits longer than it may."""

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from redis import Connection, ConnectionPool, SSLConnection
from redis.exceptions import ConnectionError, ResponseError

from petstore.turns import SHORT_WAIT_SECONDS, give_way

STEP_SECONDS = 0.1
HIT_SECONDS = 0.15

_present = threading.local()
_addresses: dict[str, list[str]] = {}
_lookups: dict[str, threading.Thread] = {}


@contextmanager
def one_hit() -> Iterator[None]:
    """Let all that Redis is asked in the block take as long as one hit may."""
    _present.ends_at = time.monotonic() + HIT_SECONDS
    try:
        yield
    finally:
        _present.ends_at = None


class PunctualConnection(Connection):
    """Finding the server, connecting, signing in and asking share one time limit."""

    def _connect(self) -> socket.socket:
        give_way()
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
        if not self.can_read(SHORT_WAIT_SECONDS):
            give_way()
        return super().read_response(*args, **options)


class PunctualTLSConnection(SSLConnection, PunctualConnection):
    """The same, encrypted."""


class Line(threading.local):
    """A connection of each thread's own, which spares it the way through a pool."""

    def __init__(self, pool: ConnectionPool) -> None:
        self._pool = pool
        self._process = 0  # a connection must not be shared by parent and child

    def evalsha(self, *arguments: Any) -> Any:
        """Run a script that the server has."""
        return self._ask("EVALSHA", *arguments)

    def eval(self, *arguments: Any) -> Any:
        """Run a script."""
        return self._ask("EVAL", *arguments)

    def _ask(self, *command: Any) -> Any:
        if self._process != os.getpid():
            self._connection = self._pool.get_connection()
            self._process = os.getpid()
        connection = self._connection
        try:
            if connection.is_connected and _is_over(connection):
                connection.disconnect()
            connection.send_command(*command)
            return connection.read_response()
        except ResponseError:
            raise
        except BaseException:
            # A late answer must not be taken for that of the next command.
            connection.disconnect()
            raise


def _is_over(connection: Connection) -> bool:
    """Whether the server has said something without being asked, as when it ends."""
    try:
        return connection.can_read()
    except ConnectionError:
        return True


def _seconds_left() -> float:
    ends_at = getattr(_present, "ends_at", None)
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
