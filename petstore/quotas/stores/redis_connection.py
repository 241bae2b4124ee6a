"""A connection to Redis that all requests of a worker share."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import hiredis
from redis.exceptions import RedisError, ResponseError

from petstore import timeouts

Command = tuple[int | str, ...]
Connect = Callable[[Callable[[], asyncio.Protocol]], Awaitable[object]]


class RedisConnection(asyncio.Protocol):
    """Sends each command at once; Redis replies in the order of the commands.

    After an error, or if one command has waited for too long, the connection is closed,
    and all commands that wait for a reply fail. An error reply is such an error, too: a
    Redis that is full, read-only or still loading does not count.

    Connecting is part of the time of a command, which is measured by
    `LIMITS.check_seconds`: a process that was suspended reads a reply that has arrived
    in the meantime before it gives up.
    """

    def __init__(self, connect: Connect, greeting: Sequence[Command]) -> None:
        """Connect in the background, and send the commands of the greeting first."""
        self.is_closed = False
        self._loop = asyncio.get_running_loop()
        self._reader = hiredis.Reader(replyError=ResponseError)
        # Each command that waits for its reply, and the number of checks before it.
        self._waiting: deque[tuple[asyncio.Future[Any], int]] = deque()
        self._checks = 0
        self._timer: asyncio.TimerHandle | None = None
        self._transport: asyncio.Transport | None = None
        self._unsent: list[bytes] = []
        self._write: Callable[[bytes], None] = self._unsent.append
        for command in greeting:
            self.execute(command).cancel()  # nobody awaits the reply
        self._connecting = self._loop.create_task(self._connect(connect))

    def execute(self, command: Command) -> asyncio.Future[Any]:
        """Send a command; the future receives its reply, or the error."""
        reply = self._loop.create_future()
        self._waiting.append((reply, self._checks))
        # Its type hints allow tuples of one word only.
        self._write(hiredis.pack_command(command))  # type: ignore[arg-type]
        if self._timer is None:
            self._check_later()
        return reply

    def fail(self, reason: Exception) -> None:
        """Close the connection, with this reason for all that wait for a reply."""
        self.is_closed = True
        self._connecting.cancel()
        if self._transport:
            self._transport.abort()
        waiting, self._waiting = self._waiting, deque()
        for reply, _ in waiting:
            if not reply.done():
                reply.set_exception(reason)

    async def _connect(self, connect: Connect) -> None:
        try:
            await connect(lambda: self)
        except (OSError, RedisError) as error:
            self.fail(error)

    def _check_later(self) -> None:
        seconds = timeouts.LIMITS.check_seconds
        self._timer = self._loop.call_later(seconds, self._check)

    def _check(self) -> None:
        self._timer = None
        self._checks += 1
        if self._waiting:
            limits, (_, began) = timeouts.LIMITS, self._waiting[0]
            if (self._checks - began) * limits.check_seconds >= limits.hit_seconds:
                self.fail(TimeoutError("no answer in time"))
            else:
                self._check_later()

    # The transport of a stream is an asyncio.Transport.
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Send what has been waiting for the connection."""
        self._transport = transport
        self._write = transport.write
        transport.write(b"".join(self._unsent))

    def data_received(self, data: bytes) -> None:
        """Hand out the replies."""
        self._reader.feed(data)
        try:
            while self._waiting and (reply := self._reader.gets()) is not False:
                if isinstance(reply, ResponseError):
                    self.fail(reply)
                    return
                waiting, _ = self._waiting.popleft()
                if not waiting.done():
                    waiting.set_result(reply)
        except hiredis.HiredisError as error:
            self.fail(ConnectionError(str(error)))

    def connection_lost(self, error: Exception | None) -> None:
        """Fail what waits for a reply."""
        self.fail(error or ConnectionError("Redis has closed the connection"))
