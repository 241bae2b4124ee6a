"""A clock that stands still until a test moves it, for every store at once."""

from collections.abc import Callable

import psycopg
from peewee import SQL

from petstore import clock
from petstore.engines.postgresql import Postgresql

# Ten seconds into a minute, at noon.
NOON_MS = clock.instant_ms(2027, 3, 17) + 12 * 60 * clock.MS_PER_MINUTE + 10_000


def make_stores_movable() -> None:
    """Let the stores of this process take the time from where a `Clock` puts it."""
    Postgresql.now_ms = SQL("(SELECT now_ms FROM test_clock)")


class Clock:
    """The time of the service and of PostgreSQL."""

    def __init__(self) -> None:
        self.now_ms = NOON_MS
        self._listeners: list[Callable[[int], None]] = []

    def tell_postgresql(self, connection: psycopg.Connection) -> None:
        """Move a database's clock along."""

        def tell(now_ms: int) -> None:
            with connection.transaction():
                connection.execute("DELETE FROM test_clock")
                connection.execute("INSERT INTO test_clock VALUES (%s)", (now_ms,))

        self._tell(tell)

    def move(self, *, seconds: float = 0, days: float = 0) -> None:
        """Let time pass."""
        self.set_ms(self.now_ms + int(seconds * 1000) + int(days * clock.MS_PER_DAY))

    def set_ms(self, now_ms: int) -> None:
        """Make it that time."""
        self.now_ms = now_ms
        for tell in self._listeners:
            tell(now_ms)

    def _tell(self, tell: Callable[[int], None]) -> None:
        self._listeners.append(tell)
        tell(self.now_ms)
