"""Scripts that Redis runs, several in one round trip, within one deadline."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

from redis.asyncio import Redis, RedisCluster
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

# For all of it: name look-up, connection, authentication, scripts. Counted in looks,
# since an answer may be there while this process has had no time to read it.
RUN_SECONDS = 0.18
TIMEOUT_CHECKS = 4


class Script(NamedTuple):
    """Lua that a server is sent once, and then called by its digest."""

    text: str
    digest: str

    @classmethod
    def read(cls, name: str) -> Self:
        """The script in the file of that name."""
        text = Path(__file__).with_name(name).read_text()
        digest = hashlib.sha1(text.encode(), usedforsecurity=False)
        return cls(text, digest.hexdigest())


class ScriptCall(NamedTuple):
    """A script with its key and arguments."""

    script: Script
    key: str
    arguments: Sequence[int | str]


async def run_scripts(
    client: Redis | RedisCluster, calls: Sequence[ScriptCall]
) -> list[Any]:
    """What each script returns, a list, or the `ResponseError` that it ends in.

    Raises what is in `redis_clients.UNAVAILABLE`.
    """
    try:
        async with asyncio.timeout(None) as timeout, _expire_after_checks(timeout):
            return await _evaluate(client, calls)
    except TimeoutError:
        raise RedisTimeoutError("no answer in time") from None
    except RuntimeError as error:  # uvloop's, for a connection that is lost
        raise RedisConnectionError(str(error)) from error


@asynccontextmanager
async def _expire_after_checks(timeout: asyncio.Timeout) -> AsyncIterator[None]:
    """Let a time-out expire after some looks at the clock, one after the other."""
    loop = asyncio.get_running_loop()
    timer: asyncio.TimerHandle

    def check(left: int) -> None:
        nonlocal timer
        if left:
            timer = loop.call_later(RUN_SECONDS / TIMEOUT_CHECKS, check, left - 1)
        else:
            timeout.reschedule(loop.time())

    timer = loop.call_later(RUN_SECONDS / TIMEOUT_CHECKS, check, TIMEOUT_CHECKS - 1)
    try:
        yield
    finally:
        timer.cancel()


async def _evaluate(
    client: Redis | RedisCluster, calls: Sequence[ScriptCall]
) -> list[Any]:
    replies = await _call(client, calls)
    # A server that was started a moment ago knows no script yet.
    unknown = [
        call
        for call, reply in zip(calls, replies, strict=True)
        if isinstance(reply, NoScriptError)
    ]
    if not unknown:
        return replies
    retried = iter(await _call(client, unknown, sends_text=True))
    return [next(retried) if isinstance(a, NoScriptError) else a for a in replies]


async def _call(
    client: Redis | RedisCluster,
    calls: Sequence[ScriptCall],
    *,
    sends_text: bool = False,
) -> list[Any]:
    name = "EVAL" if sends_text else "EVALSHA"
    commands = [
        (script.text if sends_text else script.digest, 1, key, *arguments)
        for script, key, arguments in calls
    ]
    if len(commands) > 1:
        batch = client.pipeline(transaction=False)
        for command in commands:
            batch.execute_command(name, *command)
        return await batch.execute(raise_on_error=False)
    try:
        return [await client.execute_command(name, *commands[0])]
    except ResponseError as error:
        return [error]
