"""A frozen clock that tests move, shared by the service and PostgreSQL."""

from collections.abc import Callable

import psycopg
from peewee import SQL

from petstore import clock
from petstore.engines.postgresql import Postgresql

# 12:00:10 UTC, which is ten seconds into a minute.
NOON_MS = clock.instant_ms(2027, 3, 17) + 12 * 60 * clock.MS_PER_MINUTE + 10_000


def make_stores_movable() -> None:
    """Make PostgreSQL stores read the time from the table that a `Clock` sets."""
    Postgresql.now_ms = SQL("(SELECT now_ms FROM test_clock)")


class Clock:
    """The current time of the service and of PostgreSQL."""

    def __init__(self) -> None:
        self.now_ms = NOON_MS
        self._listeners: list[Callable[[int], None]] = []

    def tell_postgresql(self, connection: psycopg.Connection) -> None:
        """Keep the clock of a database in step with this one."""

        def tell(now_ms: int) -> None:
            with connection.transaction():
                connection.execute("DELETE FROM test_clock")
                connection.execute("INSERT INTO test_clock VALUES (%s)", (now_ms,))

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
