"""A frozen clock that tests move, shared by the service and its stores."""

from collections.abc import Callable
from pathlib import Path

import psycopg
import redis
from peewee import SQL

from petstore import clock
from petstore.quotas.redis import SingleStorage
from petstore.storage.postgresql import Postgresql

# Each test begins at 12:00:10 UTC, ten seconds into a minute.
START_MS = clock.instant_ms(2027, 3, 17) + 12 * 60 * clock.MS_PER_MINUTE + 10_000


# PostgreSQL plans with the value of a stable function, as it does with that of now().
POSTGRESQL_CLOCK = Path(__file__).with_name("clock.sql").read_text()
# For databases that another process writes as well, by the real time.
REAL_POSTGRESQL_CLOCK = """
CREATE OR REPLACE FUNCTION test_now_ms() RETURNS bigint STABLE LANGUAGE sql
    AS 'SELECT (extract(epoch FROM now()) * 1000)::bigint';
"""
# In front of a script, this makes keys expire by the time that a `Clock` has stored.
LUA_CLOCK = Path(__file__).with_name("clock.lua").read_text()


def make_stores_movable() -> None:
    """Make the stores read the time from the table or the key that a `Clock` sets."""
    Postgresql.now_ms = Postgresql.clock_ms = SQL("test_now_ms()")
    SingleStorage.SCRIPT_HIT = LUA_CLOCK.encode() + SingleStorage.SCRIPT_HIT


class Clock:
    """The current time of the service and of its stores."""

    def __init__(self) -> None:
        self.now_ms = START_MS
        self._listeners: list[Callable[[int], None]] = []

    def tell_postgresql(self, connection: psycopg.Connection) -> None:
        """Keep the clock of a database in step with this one."""

        def tell(now_ms: int) -> None:
            with connection.transaction():
                connection.execute("DELETE FROM test_clock")
                connection.execute("INSERT INTO test_clock VALUES (%s)", (now_ms,))

        self._tell(tell)

    def tell_redis(self, url: str) -> None:
        """Keep the clock of a Redis in step with this one."""

        def tell(now_ms: int) -> None:
            with redis.from_url(url) as client:
                client.set("test_clock", now_ms)

        self._tell(tell)

    def move(self, *, seconds: float = 0, days: float = 0) -> None:
        """Advance the clock."""
        self.set_ms(self.now_ms + int(seconds * 1000) + int(days * clock.MS_PER_DAY))

    def set_ms(self, now_ms: int) -> None:
        """Set the clock, in milliseconds since the epoch."""
        self.now_ms = now_ms
        for tell in self._listeners:
            tell(now_ms)

    def _tell(self, tell: Callable[[int], None]) -> None:
        self._listeners.append(tell)
        tell(self.now_ms)
