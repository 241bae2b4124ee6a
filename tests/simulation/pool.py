"""The real pool of connections to PostgreSQL, on simulated connections.

The engine, its pool, its queues and its batches are real; what asyncpg would do on the
network is simulated: statements take their time, wait for locks, fail, or hang.
"""

import asyncio
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import asyncpg
import peewee
from petstore.storage.engines import postgresql
from petstore.storage.engines.connection import PostgresConnection
from petstore.storage.engines.postgresql import Postgresql
from petstore.storage.engines.waiting import ClientGone, begin_deadline

from petstore import timeouts, waiting
from petstore.storage.queries import Written
from tests.simulation.loop import Loop
from tests.simulation.network import Network
from tests.simulation.service import be_in
from tests.simulation.world import World

SECONDS = 6.0
LAST_SECONDS = 2.5  # the longest that a request may take, whatever it meets
FAILING_SECONDS = 1.7  # while no server has hung: the wait for a lock
RECOVERY_SECONDS = 3.0
LIMIT = re.compile(r"lock_timeout = '([\d.]+)ms'")
HANGING = ("silent", "cut", "slow")
STATES = ("down", "silent", "read-only", "cut", "slow", "crashing")
READ = Written("SELECT something", ())
LOCK = Written("SELECT lock $1", ("key",))
WRITE = Written("INSERT $1", ("name",))
INSERT = Written("INSERT $1 $2 $3", ("key", "name", "lock_timeout"))


class Server:
    """A PostgreSQL that keeps rows and locks of projects."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.dice = world.dice("postgresql")
        self.state = "up"
        self.connections: list[Connection] = []
        self.owners: dict[Any, Connection] = {}  # of locks
        self.rows: Counter[str] = Counter()
        self.opened = 0  # connections
        self.most = 0  # of them at a time
        self.has_hung = False  # in whatever way
        self.faults: list[str] = []

    def fail(self, state: str) -> None:
        """Change the state; connections are lost where it says so."""
        self.has_hung = self.has_hung or state in HANGING
        self.state = "up" if state == "cut" else state
        for connection in list(self.connections):
            if state == "cut":
                connection.is_cut = True
            if state == "down":
                connection.end()

    async def connect(self, **_: Any) -> "Connection":
        """Open a connection, as `connect` of the engine does."""
        try:
            async with asyncio.timeout(timeouts.LIMITS.connect_seconds):
                await self.take_time()
        except TimeoutError as error:
            raise peewee.OperationalError("no connection in time") from error
        if self.state == "down":
            raise peewee.OperationalError("refused")
        self.connections.append(Connection(self))
        self.most = max(self.most, len(self.connections))
        return self.connections[-1]

    async def take_time(self) -> None:
        """Wait as long as the server and the network need."""
        most = 0.3 if self.state == "slow" else 0.006
        await asyncio.sleep(self.dice.uniform(0.0002, most))
        while self.state == "silent":
            await asyncio.sleep(0.01)


class Connection(PostgresConnection):
    """A connection without a network."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._number = server.opened = server.opened + 1
        self._is_closed = self._has_begun = self._is_busy = False
        self._lock_seconds = 0.0
        self._rows: list[str] = []  # of the transaction
        self.is_cut = False  # no packet arrives any more

    def __del__(self) -> None:
        pass

    def __repr__(self) -> str:
        return f"connection {self._number}"

    def is_closed(self) -> bool:
        return self._is_closed

    def is_in_transaction(self) -> bool:
        return self._has_begun

    async def fetch(self, sql: str, *values: Any, timeout: Any = None) -> list[Any]:
        return await self._use(timeout, partial(self._fetch, sql, values))

    async def execute(self, sql: str, *values: Any, timeout: Any = None) -> str:
        return await self._use(timeout, partial(self._execute, sql, values))

    async def fetchmany(self, sql: str, args: Any, *, timeout: Any = None) -> list[Any]:
        return await self._use(timeout, partial(self._insert_many, args))

    async def close(self, *, timeout: Any = None) -> None:
        if not self.is_cut:
            await asyncio.sleep(0.001)
        # The server ends the transaction of a client that has gone without a word.
        seconds = timeouts.LIMITS.idle_transaction_seconds if self.is_cut else 0.0
        self._is_closed = True
        self._server.world.after(seconds, self.end)

    def end(self) -> None:
        """End the session, with its transaction and its locks."""
        self._is_closed = True
        self._end_transaction()
        if self in self._server.connections:
            self._server.connections.remove(self)

    async def _use(self, seconds: Any, call: Callable[[], Any]) -> Any:
        server = self._server
        if self._is_busy:
            server.faults.append("one request at a time: a connection is used twice")
        self._is_busy = True
        try:
            async with asyncio.timeout(seconds or timeouts.LIMITS.statement_seconds):
                while self.is_cut:
                    await asyncio.sleep(0.5)
                await server.take_time()
                if self._is_closed:
                    raise asyncpg.ConnectionDoesNotExistError("closed by the server")
                return await call()
        finally:
            self._is_busy = False

    async def _fetch(self, sql: str, values: tuple[Any, ...]) -> list[Any]:
        if sql.startswith("SELECT lock"):
            await self._lock(values[0], self._lock_seconds)
        return []

    async def _execute(self, sql: str, values: tuple[Any, ...]) -> str:
        if sql.startswith("BEGIN"):
            self._has_begun = True
            self._lock_seconds = float(LIMIT.search(sql)[1]) / 1000
        elif sql == "COMMIT":
            self._commit()
        elif sql == "ROLLBACK":
            self._end_transaction()
        elif values:
            self._write(values[0])
        return "OK 1"

    async def _insert_many(self, many: list[list[Any]]) -> list[Any]:
        project, _, limit, _ = many[0]
        await self._lock(project, float(limit.removesuffix("ms")) / 1000)
        await self._server.take_time()
        for _, row, _, _ in many:
            self._write(row)
        self._commit()
        return [(1, number) for _, _, _, number in many]

    def _commit(self) -> None:
        """Commit, unless the server crashes just before that, or just after it."""
        is_crashing = self._server.state == "crashing"
        if not is_crashing or self._server.dice.random() < 0.5:
            self._server.rows.update(self._rows)
        self._end_transaction()
        if is_crashing:
            self.end()
            raise asyncpg.ConnectionDoesNotExistError("closed by the server")

    def _write(self, row: str) -> None:
        if self._server.state == "read-only":
            self._end_transaction()
            raise asyncpg.ReadOnlySQLTransactionError("cannot execute INSERT")
        self._rows.append(row)

    async def _lock(self, key: Any, seconds: float) -> None:
        ends = self._server.world.now + seconds
        while self._server.owners.setdefault(key, self) is not self:
            if self._server.world.now > ends:
                self._rows = []
                raise asyncpg.LockNotAvailableError("lock timeout")
            await asyncio.sleep(0.002)
            if self._is_closed:
                raise asyncpg.ConnectionDoesNotExistError("closed by the server")

    def _end_transaction(self) -> None:
        self._has_begun, self._rows = False, []
        for key in [key for key, owner in self._server.owners.items() if owner is self]:
            del self._server.owners[key]


class Crowd:
    """Requests that read and write through the engine."""

    def __init__(self, world: World, server: Server) -> None:
        self.world, self.server = world, server
        self.engine = Postgresql("postgresql://simulated", prepares_statements=True)
        self.dice = world.dice("requests")
        self.told: dict[str, str] = {}  # of each write
        self.under_way = 0
        self.failed_at: list[float] = []

    def start_writing(self, row: str) -> None:
        """Begin a request that writes in a transaction."""
        self.under_way += 1
        waiting.start(self._play, self._write, row, "A")

    def start(self, number: int) -> None:
        """Begin any request."""
        kinds = (self._read, self._write, self._insert)
        call = partial(self._play, self.dice.choice(kinds), f"row {number}")
        self.under_way += 1
        task = waiting.start(call, self.dice.choice("AAABC"))
        if task and self.dice.random() < 0.05:
            self.world.after(self.dice.uniform(0, 0.5), waiting.abandon, task)

    def _play(self, request: Callable[[str, str], None], row: str, key: str) -> None:
        began_at, outcome = self.world.now, "done"
        begin_deadline()
        try:
            request(row, key)
        except ClientGone:
            outcome = "the client has gone"
        except peewee.OperationalError as error:
            outcome = f"failed: {error}"
            self.failed_at.append(self.world.now)
        finally:
            self.under_way -= 1
        seconds = self.world.now - began_at
        name = request.__name__.strip("_")
        self.world.note("pool", f"{name} {row} of {key}: {outcome}, {seconds:.3f} s")
        if name != "read":
            self.told[row] = outcome
        if seconds > (LAST_SECONDS if self.server.has_hung else FAILING_SECONDS):
            took = f"{name} {row} took {seconds:.3f} s"
            self.server.faults.append(f"answers come in time: {took}")

    def _read(self, _row: str, _key: str) -> None:
        self.engine.fetch(READ, {})

    def _write(self, row: str, key: str) -> None:
        with self.engine.writing(key):
            self.engine.fetch(LOCK, {"key": key})
            self.engine.fetch(WRITE, {"name": row})

    def _insert(self, row: str, key: str) -> None:
        self.engine.insert(key, INSERT, {"key": key, "name": row})


def play(seed: int) -> tuple[list[str], list[tuple[float, str, str]], str]:
    """Play a seed; return broken promises, the trace and its digest."""
    world = World(seed)
    server = Server(world)
    be_in(world)
    postgresql.connect = lambda _url, **options: server.connect(**options)
    new_loop = partial(Loop, world, Network(world), "the pool")
    with asyncio.Runner(loop_factory=new_loop) as runner:
        try:
            faults = runner.run(_play_all(world, server))
        except Exception as error:  # noqa: BLE001 (a bug of the pool)
            faults = [f"no traceback: {error!r}"]
    return world.faults + server.faults + faults, world.notes, world.digest.hexdigest()


async def _play_all(world: World, server: Server) -> list[str]:
    waiting.use_running_loop()
    crowd, dice = Crowd(world, server), world.dice("pool plan")
    began_at = world.now
    last = began_at
    for _ in range(dice.choice((0, 1, 2, 3))):
        start, seconds = dice.uniform(0, SECONDS), dice.choice((0.1, 1.0, 3.0))
        state = dice.choice(STATES)
        world.after(start, server.fail, state)
        world.after(start + seconds, server.fail, "up")
        world.after(start, world.note, "fault", f"{state} for {seconds} s")
        last = max(last, began_at + start + seconds)
    moments = sorted(dice.uniform(0, SECONDS) for _ in range(dice.choice((30, 80))))
    burst = dice.uniform(0, SECONDS)
    moments = sorted(moments + [burst] * dice.choice((0, 20, 60)))
    for number, moment in enumerate(moments):
        await asyncio.sleep(max(0.0, began_at + moment - world.now))
        crowd.start(number)
    await asyncio.sleep(max(0.0, last + RECOVERY_SECONDS - world.now))
    # Only a write finds out that a firewall has forgotten the connections.
    crowd.start_writing("the last one")
    await asyncio.sleep(LAST_SECONDS)
    recovered_at = world.now
    for number in range(1000, 1020):  # of which most wait for a connection
        crowd.start(number)
    await asyncio.sleep(LAST_SECONDS)
    faults = list(_judge(crowd, recovered_at))
    await crowd.engine._pool.close()
    await asyncio.sleep(timeouts.LIMITS.idle_transaction_seconds + 0.1)
    if server.connections or server.owners:
        faults.append("nothing is left over: connections or locks")
    return faults


def _judge(crowd: Crowd, recovered_at: float) -> Iterator[str]:
    server = crowd.server
    if crowd.under_way:
        yield f"nobody starves: {crowd.under_way} requests have no answer"
    failed = sum(moment >= recovered_at for moment in crowd.failed_at)
    if failed:
        yield f"everything is served again: {failed} requests failed after all faults"
    # As many again may be closing.
    if server.most > 2 * timeouts.LIMITS.connections:
        yield f"a pool is bounded: {server.most} connections"
    by_row = defaultdict(str, crowd.told)
    for row, outcome in by_row.items():
        if outcome == "done" and server.rows[row] != 1:
            yield f"acknowledged writes are there once: {row}: {server.rows[row]}"
        if server.rows[row] > 1:
            yield f"nothing is there twice: {row}"
