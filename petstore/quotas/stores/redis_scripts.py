"""Lua scripts for Redis: several in one round trip, with one time limit."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

from redis.asyncio import Redis, RedisCluster
from redis.asyncio.cluster import ClusterNode
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

# For name lookup, connection, authentication and scripts together. The time is divided
# into checks: a process that was suspended gets the chance to read a reply that has
# arrived in the meantime.
RUN_SECONDS = 0.18
TIMEOUT_CHECKS = 4


Client = Redis | RedisCluster | ClusterNode


class Script(NamedTuple):
    """A Lua script: sent to a server once, then called by its digest."""

    text: str
    digest: str

    @classmethod
    def read(cls, name: str) -> Self:
        """Return the script in the file with that name, in this folder."""
        text = Path(__file__).with_name(name).read_text()
        digest = hashlib.sha1(text.encode(), usedforsecurity=False)
        return cls(text, digest.hexdigest())


class ScriptCall(NamedTuple):
    """A call of a script, with its key and arguments."""

    script: Script
    key: str
    arguments: Sequence[int | str]


async def run_scripts(client: Client, calls: Sequence[ScriptCall]) -> list[Any]:
    """Return the list that each script returns, or the `ResponseError` of a script.

    Raises an error of `redis_clients.UNAVAILABLE` if the server cannot be reached.
    """
    try:
        async with asyncio.timeout(None) as timeout, _expire_after_checks(timeout):
            return await _evaluate(client, calls)
    except TimeoutError:
        raise RedisTimeoutError("no answer in time") from None
    except (RuntimeError, AttributeError) as error:
        # uvloop and redis-py raise them for a connection that was closed meanwhile.
        raise RedisConnectionError(str(error)) from error


@asynccontextmanager
async def _expire_after_checks(timeout: asyncio.Timeout) -> AsyncIterator[None]:
    """Let a timeout expire after TIMEOUT_CHECKS timers, one after the other."""
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


async def _evaluate(client: Client, calls: Sequence[ScriptCall]) -> list[Any]:
    replies = await _call(client, calls)
    # A server that has just started does not know the scripts yet.
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
    client: Client,
    calls: Sequence[ScriptCall],
    *,
    sends_text: bool = False,
) -> list[Any]:
    name = "EVAL" if sends_text else "EVALSHA"
    commands = [
        (script.text if sends_text else script.digest, 1, key, *arguments)
        for script, key, arguments in calls
    ]
    if isinstance(client, Redis) and len(commands) > 1:
        batch = client.pipeline(transaction=False)
        for command in commands:
            batch.execute_command(name, *command)
        return await batch.execute(raise_on_error=False)
    try:
        return [await client.execute_command(name, *commands[0])]
    except ResponseError as error:
        return [error]
