"""Tests for the connection to Redis that all hits of a worker share."""

import asyncio
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator

import pytest
import redis
import uvloop
from redis.exceptions import ResponseError

from petstore.quotas.stores.redis_clients import Client, client_at
from petstore.quotas.stores.redis_connection import RedisConnection
from petstore.timeouts import Limits
from tests.harness.loops import Loop, go_on_until, move_clock

COUNT = "return redis.call('INCR', KEYS[1])"
FAIL = "return redis.error_reply('OOM')"
Run = Callable[[str, Callable[[Client], Awaitable[object]]], object]


@pytest.fixture
def server(redis_url: str) -> Iterator[redis.Redis]:
    with redis.from_url(redis_url) as server:
        yield server
        server.acl_deluser("shop")
        server.config_set("requirepass", "")


@pytest.fixture
def run() -> Run:
    """Call a function with a client of the URL in an event loop like a worker's."""

    def run(url: str, use: Callable[[Client], Awaitable[object]]) -> object:
        async def main() -> object:
            client = client_at(url, COUNT, FAIL)
            try:
                return await use(client)
            finally:
                await client.close()

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(main())

    return run


def test_each_hit_gets_its_own_reply(redis_url: str, run: Run):
    async def use(client: Client) -> list[int]:
        return await asyncio.gather(*(client.run(COUNT, "k") for _ in range(200)))

    assert run(redis_url, use) == list(range(1, 201))


def test_all_hits_share_a_connection(redis_url: str, run: Run, server: redis.Redis):
    before = server.info()["total_connections_received"]

    async def use(client: Client) -> None:
        await asyncio.gather(*(client.run(COUNT, "k") for _ in range(20)))

    run(redis_url, use)
    assert server.info()["total_connections_received"] == before + 1


def test_each_connection_sends_the_scripts(
    redis_url: str, run: Run, server: redis.Redis
):
    async def use(client: Client) -> int:
        await client.run(COUNT, "k")
        server.script_flush()
        with pytest.raises(ResponseError, match="NOSCRIPT"):
            await client.run(COUNT, "k")
        return await client.run(COUNT, "k")

    assert run(redis_url, use) == 2


def test_error_reply_fails_all_hits_and_the_next_one_connects_again(
    redis_url: str, run: Run
):
    async def use(client: Client) -> list[object]:
        for script in (FAIL, COUNT):
            await asyncio.gather(client.run(script, "k"), return_exceptions=True)
        hits = (client.run(script, "k") for script in (FAIL, COUNT, COUNT))
        failed = await asyncio.gather(*hits, return_exceptions=True)
        return [*map(type, failed), type(await client.run(COUNT, "k"))]

    assert run(redis_url, use) == [ResponseError] * 3 + [int]


def test_closed_connection_is_replaced(redis_url: str, run: Run, server: redis.Redis):
    async def use(client: Client) -> int:
        await client.run(COUNT, "k")
        server.client_kill_filter(_type="normal", skipme=True)
        await go_on_until(lambda: client._connection.is_closed, pause=0.01)
        return await client.run(COUNT, "k")

    assert run(redis_url, use) == 2


def test_number_of_the_database_is_selected(
    redis_url: str, run: Run, server: redis.Redis
):
    run(redis_url.replace("/0", "/3"), lambda client: client.run(COUNT, "k"))
    assert server.info("keyspace").keys() == {"db3"}


def test_missing_database_is_an_error(redis_url: str, run: Run):
    with pytest.raises(ResponseError, match="index"):
        run(redis_url.replace("/0", "/99"), lambda client: client.run(COUNT, "k"))


@pytest.mark.parametrize("user", ["shop:se%3Acret", ":p%40ss"])
def test_user_and_password_are_sent_decoded(
    redis_url: str, run: Run, server: redis.Redis, user: str
):
    server.acl_setuser(
        "shop", enabled=True, passwords="+se:cret", keys="*", commands=["+@all"]
    )
    server.config_set("requirepass", "p@ss")
    url = redis_url.replace("://", f"://{user}@")
    assert run(url, lambda client: client.run(COUNT, "k")) == 1


def test_wrong_password_is_an_error(redis_url: str, run: Run, server: redis.Redis):
    server.config_set("requirepass", "right")
    url = redis_url.replace("://", "://:wrong@")
    with pytest.raises(ResponseError, match="WRONGPASS"):
        run(url, lambda client: client.run(COUNT, "k"))


def test_server_that_is_no_redis_is_an_error(run: Run):
    async def answer(_: object, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        writer.close()

    async def use(client: Client) -> None:
        async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
            host, port = server.sockets[0].getsockname()
            await client_at(f"redis://{host}:{port}", COUNT).run(COUNT, "k")

    with pytest.raises(ConnectionError, match="Protocol error"):
        run("redis://127.0.0.1:1", use)


def test_hit_without_a_reply_is_given_up_after_its_seconds(
    set_limits: Callable[..., None],
):
    set_limits(hit_seconds=0.3, redis_server_seconds=0.1, check_seconds=0.1)

    async def main() -> None:
        never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        connection = RedisConnection(lambda _protocol: never, [])
        hit = connection.execute(("PING",))
        await move_clock(60.0)  # all is suspended, and checked once when it goes on
        await move_clock(0.1)
        assert not hit.done()
        await move_clock(0.1)
        assert isinstance(hit.exception(), TimeoutError)

    with asyncio.Runner(loop_factory=Loop) as runner:
        runner.run(main())


def test_hit_after_a_quiet_time_is_given_up_too(set_limits: Callable[..., None]):
    set_limits(hit_seconds=0.3, redis_server_seconds=0.1, check_seconds=0.1)

    async def main() -> None:
        never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        connection = RedisConnection(lambda _protocol: never, [])
        first = connection.execute(("PING",))
        connection.data_received(b":1\r\n")
        assert await first == 1
        await move_clock(0.1)  # nothing waits, so nothing is checked any more
        hit = connection.execute(("PING",))
        for _ in range(4):
            await move_clock(0.1)
        assert isinstance(hit.exception(), TimeoutError)

    with asyncio.Runner(loop_factory=Loop) as runner:
        runner.run(main())


class Replies(asyncio.Protocol):
    """A server that replies 1 to every command."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.transport.write(b":1\r\n" * data.count(b"*"))  # each begins with one


def test_suspended_machine_has_time_to_reply_before_a_hit_is_given_up(
    run: Run, set_limits: Callable[..., None]
):
    usual = Limits()
    set_limits(
        hit_seconds=usual.hit_seconds, redis_server_seconds=usual.redis_server_seconds
    )

    async def use(_: Client) -> int:
        loop = asyncio.get_running_loop()
        async with await loop.create_server(Replies, "127.0.0.1", 0) as server:
            host, port = server.sockets[0].getsockname()
            client = client_at(f"redis://{host}:{port}", COUNT)
            await client.run(COUNT, "k")
            hit = asyncio.create_task(client.run(COUNT, "k"))
            await asyncio.sleep(0)
            time.sleep(2 * usual.hit_seconds)  # noqa: ASYNC251 (all is suspended)
            try:
                return await hit
            finally:
                await client.close()
                await asyncio.sleep(0.01)  # the server notices

    assert run("redis://127.0.0.1:1", use) == 1


@pytest.fixture
def can_resolve(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """An event that must be set before `redis.test` can be resolved."""
    event, resolve = threading.Event(), socket.getaddrinfo

    def answer(host: str, *args: object, **options: object) -> list:
        if host == "redis.test":
            event.wait()
            host = "127.0.0.1"
        return resolve(host, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    yield event
    event.set()


def test_name_lookup_is_part_of_the_time_of_a_hit(
    redis_url: str, can_resolve: threading.Event, set_limits: Callable[..., None]
):
    async def main() -> int:
        client = client_at(redis_url.replace("127.0.0.1", "redis.test"), COUNT)
        set_limits(hit_seconds=0.2, redis_server_seconds=0.2)
        for _ in range(2):
            with pytest.raises(TimeoutError):
                await client.run(COUNT, "k")
        set_limits(hit_seconds=20.0)
        can_resolve.set()
        try:
            return await client.run(COUNT, "k")
        finally:
            await client.close()

    assert asyncio.run(main()) == 1
