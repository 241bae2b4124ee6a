"""The storages of limits for Redis, which count all windows of a request in one trip.

Connections are redis-py's and are kept in a list: its pool and its client would cost
two to three times as many instructions as a hit.
"""

import queue
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from hiredis import pack_command
from limits import storage
from redis import ConnectionError, RedisError, TimeoutError
from redis.backoff import NoBackoff
from redis.connection import AbstractConnection
from redis.exceptions import NoScriptError, RedisClusterException
from redis.retry import Retry

from petstore import clock, timeouts
from petstore.quotas.strategy import NO_BAN, AlignedWindowStorage, Ban, Counts, Window
from petstore.storage import Busy, seconds_left

SHORTEST_SECONDS = 0.001  # with 0, a reply that has arrived would not be read


class SingleStorage(storage.RedisStorage, AlignedWindowStorage):
    """Counts exactly over all hosts: Redis runs one script at a time."""

    STORAGE_SCHEME = storage.RedisStorage.STORAGE_SCHEME
    SCRIPT_HIT = (Path(__file__).parent / "hit.lua").read_bytes()

    def initialize_storage(self, uri: str) -> None:
        """Prepare the scripts and the list of connections; limits calls it."""
        super().initialize_storage(uri)
        self._script = self.get_connection().register_script(self.SCRIPT_HIT)
        # It holds an item for each connection that may be used. It is faster than a
        # semaphore.
        self._turns: queue.SimpleQueue[None] = queue.SimpleQueue()
        for _ in range(timeouts.LIMITS.redis_connections):
            self._turns.put(None)
        self._failures = 0
        # Each connection with the time by which its last hit had to end.
        self._idle: list[tuple[float, AbstractConnection]] = []

    base_exceptions = RedisError, RedisClusterException  # raised while Redis is away

    def acquire_windows(
        self, windows: Sequence[Window], amount: int = 1, ban: Ban = NO_BAN
    ) -> Counts:
        names = [window.key for window in windows]
        arguments = [amount, ban.until_ms]
        arguments += [number for window in windows for number in window[1:3]]
        if ban.key_id is not None:
            tag, _, _ = names[0].partition("/")
            names.append(f"{tag}/key:{ban.key_id}/refusals")
        keys = [f"{self.key_prefix}:{name}" for name in names]
        is_granted, now_ms, strikes, *used = self._take_turn(keys, arguments)
        pairs = list(zip(used[::2], used[1::2], strict=True))
        return Counts(bool(is_granted), now_ms, strikes, pairs)

    def servers(self) -> list[dict[str, Any]]:
        """Return the INFO of each server that counts."""
        return [self.storage.info()]

    def _take_turn(self, keys: Sequence[str], arguments: Sequence[int]) -> Any:
        """Run the script as soon as a connection may be used."""
        failures = self._failures
        try:
            self._turns.get(timeout=seconds_left(timeouts.LIMITS.queue_seconds))
        except queue.Empty:
            raise Busy("all connections to Redis are in use") from None
        try:
            if self._failures != failures:
                raise ConnectionError("Redis has not answered another request")
            return self._run(keys, arguments)
        except self.base_exceptions:
            self._failures += 1
            self._idle.clear()  # they may have been closed, too
            raise
        finally:
            self._turns.put(None)

    def _run(self, keys: Sequence[str], arguments: Sequence[int]) -> Any:
        """Run the script, but not again if the connection is lost before the reply."""
        ends = clock.monotonic() + timeouts.LIMITS.hit_seconds
        rest = (len(keys), *keys, *arguments)
        connection = self._connection(ends)
        try:
            reply = _call(connection, ends, "EVALSHA", self._script.sha, *rest)
        except NoScriptError:
            reply = _call(connection, ends, "EVAL", self._script.script, *rest)
        self._idle.append((ends, connection))
        return reply

    def _connection(self, ends: float) -> AbstractConnection:
        """Return an idle connection that Redis has not closed, or a new one."""
        while self._idle:
            last_ends, connection = self._idle.pop()
            is_fresh = ends - last_ends < timeouts.LIMITS.redis_idle_seconds
            with suppress(ConnectionError):
                if is_fresh or not connection.can_read():
                    return connection
        pool = self.storage.connection_pool
        new: AbstractConnection = pool.connection_class(**pool.connection_kwargs)
        new.connect()
        return new


class SentinelStorage(SingleStorage, storage.RedisSentinelStorage):
    """Counts in the master that sentinels name."""

    STORAGE_SCHEME = storage.RedisSentinelStorage.STORAGE_SCHEME


class ClusterStorage(SingleStorage, storage.RedisClusterStorage):
    """Counts in a Redis Cluster, whose nodes redis-py finds."""

    STORAGE_SCHEME = storage.RedisClusterStorage.STORAGE_SCHEME

    def servers(self) -> list[dict[str, Any]]:
        masters = self.storage.get_primaries()
        return [self.storage.info(target_nodes=master) for master in masters]

    def _run(self, keys: Sequence[str], arguments: Sequence[int]) -> Any:
        return self._script(keys, arguments)


def redis_storage(
    url: str, key_prefix: str = "petstore", seconds: float | None = None
) -> SingleStorage:
    """Return the storage at a URL that the settings have checked.

    Each step of a connection may take that many seconds. A cluster is asked for its
    nodes at once, which raises what `base_exceptions` names.
    """
    seconds = seconds or timeouts.LIMITS.redis_seconds
    options: dict[str, Any] = {
        "socket_timeout": seconds,
        "socket_connect_timeout": seconds,
        "protocol": 2,
        "driver_info": None,  # sending it would take two round trips
        # Connecting is tried again once, since this process itself may have been late.
        # A hit is not sent again.
        "retry": Retry(NoBackoff(), 1, (TimeoutError,)),
    }
    parts = urlsplit(url)
    if "+" in parts.scheme:  # limits does not decode their credentials
        given = {"username": parts.username, "password": parts.password}
        options |= {name: unquote(text) for name, text in given.items() if text}
    if parts.scheme == "redis+cluster":
        options["retry"] = Retry(NoBackoff(), 0)
    if parts.scheme == "redis+sentinel":
        options["sentinel_kwargs"] = options.copy()
    opened = storage.storage_from_string(url, key_prefix=key_prefix, **options)
    return cast(SingleStorage, opened)


def _call(connection: AbstractConnection, ends: float, *command: Any) -> Any:
    """Send a command and return its reply, which must come before the hit ends."""
    connection.send_packed_command([pack_command(command)])
    read = connection.read_response
    try:
        return read(disconnect_on_error=False, timeout=_seconds_left(ends))
    except TimeoutError:
        # The reply may have come while this process was late itself.
        return read(timeout=_seconds_left(ends))


def _seconds_left(ends: float) -> float:
    left = min(timeouts.LIMITS.redis_seconds, ends - clock.monotonic())
    return max(left, SHORTEST_SECONDS)
