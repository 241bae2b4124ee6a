"""What the service asks of its databases."""

from collections.abc import Iterator
from contextlib import contextmanager

from peewee import QueryEvent

from petstore.database import counters, data


@contextmanager
def recorded() -> Iterator[list[str]]:
    """The statements of the block, in both databases, in their order."""
    seen: list[str] = []

    def record(event: QueryEvent) -> None:
        seen.append(event.sql)

    databases = {data.obj, counters.obj}
    for database in databases:
        database.query_hooks.append(record)
    try:
        yield seen
    finally:
        for database in databases:
            database.query_hooks.remove(record)
