"""Scripts that Redis runs, several in one round trip, within one deadline."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

from redis.asyncio import Redis, RedisCluster
from redis.exceptions import ConnectionError as LostConnection
from redis.exceptions import NoScriptError, ResponseError
from redis.exceptions import TimeoutError as NoAnswer

# For all of it: name look-up, connection, authentication, scripts. Counted in looks,
# since an answer may be there while this process has had no time to read it.
RUN_SECONDS = 0.18
LOOKS = 4


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


class Run(NamedTuple):
    """A script with its key and arguments."""

    script: Script
    key: str
    arguments: Sequence[int | str]


async def run(client: Redis | RedisCluster, runs: Sequence[Run]) -> list[Any]:
    """What each script returns, a list, or the `ResponseError` that it ends in.

    Raises what is in `redis_clients.UNAVAILABLE`.
    """
    try:
        async with asyncio.timeout(None) as timeout, _looks(timeout):
            return await _run(client, runs)
    except TimeoutError:
        raise NoAnswer("no answer in time") from None
    except RuntimeError as error:  # uvloop's, for a connection that is lost
        raise LostConnection(str(error)) from error


@asynccontextmanager
async def _looks(timeout: asyncio.Timeout) -> AsyncIterator[None]:
    """Let a time-out expire after some looks at the clock, one after the other."""
    loop = asyncio.get_running_loop()
    timer: asyncio.TimerHandle

    def look(left: int) -> None:
        nonlocal timer
        if left:
            timer = loop.call_later(RUN_SECONDS / LOOKS, look, left - 1)
        else:
            timeout.reschedule(loop.time())

    timer = loop.call_later(RUN_SECONDS / LOOKS, look, LOOKS - 1)
    try:
        yield
    finally:
        timer.cancel()


async def _run(client: Redis | RedisCluster, runs: Sequence[Run]) -> list[Any]:
    answers = await _call(client, runs)
    # A server that was started a moment ago knows no script yet.
    unknown = [
        one
        for one, answer in zip(runs, answers, strict=True)
        if isinstance(answer, NoScriptError)
    ]
    if not unknown:
        return answers
    again = iter(await _call(client, unknown, sends_text=True))
    return [next(again) if isinstance(a, NoScriptError) else a for a in answers]


async def _call(
    client: Redis | RedisCluster, runs: Sequence[Run], *, sends_text: bool = False
) -> list[Any]:
    command = "EVAL" if sends_text else "EVALSHA"
    calls = [
        (script.text if sends_text else script.digest, 1, key, *arguments)
        for script, key, arguments in runs
    ]
    if len(calls) > 1:
        batch = client.pipeline(transaction=False)
        for call in calls:
            batch.execute_command(command, *call)
        return await batch.execute(raise_on_error=False)
    try:
        return [await client.execute_command(command, *calls[0])]
    except ResponseError as error:
        return [error]
