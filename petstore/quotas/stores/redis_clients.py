"""Clients of one Redis, of a cluster, and of a master that sentinels name."""

import asyncio
import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple, Self
from urllib.parse import unquote, urlsplit

from redis import exceptions
from redis.asyncio import Redis, RedisCluster, Sentinel
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    NoScriptError,
    RedisClusterException,
    RedisError,
    ResponseError,
)

# A hit may take so long in all: name, connection, sign-in, script.
HIT_SECONDS = 0.18
# For an answer that takes longer, no other hits wait.
SLOW_SECONDS = 0.01
# One of several servers that does not answer must leave time to ask another one.
SERVER_SECONDS = 0.1

UNAVAILABLE = (RedisError, RedisClusterException, OSError)


def client_at(url: str) -> Redis | RedisCluster:
    """The client for an address that the settings have checked."""
    # A hit that was sent may have been counted: sending it again is no repair.
    options = {"retry": Retry(NoBackoff(), 0), "protocol": 2}
    parts = urlsplit(url)
    if not parts.scheme.startswith("redis+"):
        return Redis.from_url(url, **options)
    options |= _limited(SERVER_SECONDS)
    user = {"username": parts.username, "password": parts.password}
    options |= {name: unquote(value) for name, value in user.items() if value}
    servers = [
        server.rsplit(":", 1) for server in parts.netloc.split("@")[-1].split(",")
    ]
    if parts.scheme == "redis+cluster":
        nodes = [ClusterNode(host, int(port)) for host, port in servers]
        return RedisCluster(startup_nodes=nodes, require_full_coverage=False, **options)
    # All sentinels together may take as long as one server.
    patience = options | _limited(SERVER_SECONDS / len(servers))
    sentinels = [(host, int(port)) for host, port in servers]
    return Sentinel(sentinels, sentinel_kwargs=patience, **options).master_for(
        parts.path.strip("/")
    )


def _limited(seconds: float) -> dict[str, Any]:
    return {"socket_timeout": seconds, "socket_connect_timeout": seconds}


class Script(NamedTuple):
    """Lua that a server is sent once, and then called by its digest."""

    text: str
    digest: str

    @classmethod
    def of(cls, text: str) -> Self:
        """The script of that text."""
        digest = hashlib.sha1(text.encode(), usedforsecurity=False)
        return cls(text, digest.hexdigest())


class _Hit(NamedTuple):
    script: Script
    arguments: tuple[int | str, ...]  # the key first
    answer: asyncio.Future
    gives_up_at: float


class Hits:
    """Scripts that are sent to one Redis together while it works on others before.

    With 16 requests at once a hit costs half of what it costs alone.
    """

    def __init__(self, client: Redis | RedisCluster) -> None:
        self._client = client
        self._due: list[_Hit] = []
        self._sending: set[asyncio.Task] = set()
        self._sent_at = 0.0

    async def send(
        self, script: Script, key: str, arguments: Sequence[int | str]
    ) -> list[int]:
        """What the script returns; raises what is in `UNAVAILABLE`."""
        loop = asyncio.get_running_loop()
        now, answer = loop.time(), loop.create_future()
        hit = _Hit(script, (key, *arguments), answer, now + HIT_SECONDS)
        if isinstance(self._client, RedisCluster):  # parts must not wait for each other
            await self._send([hit])
        else:
            self._due.append(hit)
            if not self._sending or now - self._sent_at > SLOW_SECONDS:
                self._sent_at = now
                self._sending.add(asyncio.create_task(self._send_due()))
        return await answer

    async def _send_due(self) -> None:
        try:
            while self._due:
                hits, self._due = self._due, []
                self._sent_at = asyncio.get_running_loop().time()
                await self._send(hits)
        finally:
            # At once, or a hit that comes now would wait for a task that has ended.
            self._sending.discard(asyncio.current_task())

    async def _send(self, hits: list[_Hit]) -> None:
        try:
            async with asyncio.timeout_at(hits[0].gives_up_at):
                answers = await self._answers(hits)
        except TimeoutError:
            self._fail(hits, exceptions.TimeoutError("no answer in time"))
        except RuntimeError as error:  # uvloop's, for a connection that is lost
            self._fail(hits, exceptions.ConnectionError(str(error)))
        except UNAVAILABLE as error:
            self._fail(hits, error)
        except BaseException as error:
            self._fail(hits, error)
            raise
        else:
            for hit, answer in zip(hits, answers, strict=True):
                if isinstance(answer, Exception):
                    hit.answer.set_exception(answer)
                else:
                    hit.answer.set_result(answer)

    def _fail(self, hits: list[_Hit], error: Exception) -> None:
        # Those that are still due would wait as long again.
        for hit in (*hits, *self._due):
            hit.answer.set_exception(error)
        self._due.clear()

    async def _answers(self, hits: list[_Hit]) -> list[Any]:
        """The answer to each, which may be an exception."""
        answers = await self._call(hits)
        # A server that was started a moment ago knows no script yet.
        unknown = [
            hit
            for hit, answer in zip(hits, answers, strict=True)
            if isinstance(answer, NoScriptError)
        ]
        if not unknown:
            return answers
        again = iter(await self._call(unknown, sends_text=True))
        return [next(again) if isinstance(a, NoScriptError) else a for a in answers]

    async def _call(self, hits: list[_Hit], *, sends_text: bool = False) -> list[Any]:
        command = "EVAL" if sends_text else "EVALSHA"
        calls = [
            (hit.script.text if sends_text else hit.script.digest, 1, *hit.arguments)
            for hit in hits
        ]
        if len(calls) > 1:
            batch = self._client.pipeline(transaction=False)
            for call in calls:
                batch.execute_command(command, *call)
            return await batch.execute(raise_on_error=False)
        try:
            return [await self._client.execute_command(command, *calls[0])]
        except ResponseError as error:
            return [error]
