"""Tables as they are copied: rows in bulk, and the last id that was assigned."""

from collections.abc import Iterator
from contextlib import contextmanager
from os.path import samefile
from pathlib import Path
from typing import Any

from peewee import BigAutoField, Model

from petstore.database import Engine, is_sqlite
from petstore.engines.base import as_peewee_errors
from petstore.statements import Row

# Any fixed number: a lock that is taken through one connection is found through another
# only if both lead to the same database.
SAME_DATABASE_LOCK = -2


def are_same(database: Engine, other: Engine) -> bool:
    """Return whether both are the same database, perhaps under two names."""
    if is_sqlite(database) or is_sqlite(other):
        files = [Path(each.database) for each in (database, other) if is_sqlite(each)]
        return len(files) == 2 and all(f.exists() for f in files) and samefile(*files)
    with database.atomic(), other.atomic():
        database.lock_until_commit(SAME_DATABASE_LOCK)
        query = "SELECT pg_try_advisory_xact_lock(%s)"
        return not other.execute_sql(query, (SAME_DATABASE_LOCK,)).fetchone()[0]


@contextmanager
def snapshot(database: Engine) -> Iterator[None]:
    """Read everything as it is at one moment, without blocking writers."""
    if is_sqlite(database):
        with database.atomic("DEFERRED"):
            yield
    else:
        with database.atomic():
            database.execute_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            yield


def read(database: Engine, table: type[Model]) -> Iterator[Row]:
    """Return every row of the table, one at a time; to be called in a `snapshot`."""
    select, _ = table.select().sql()
    cursor: Any = database.connection().cursor()  # SQLite's or psycopg's
    with as_peewee_errors:
        # `yield from` would also close the cursor, perhaps after its connection.
        for row in cursor.execute(select):  # noqa: UP028
            yield row


def write(database: Engine, table: type[Model], rows: Iterator[Row]) -> int:
    """Insert the rows with their ids; return how many there were."""
    cursor: Any = database.connection().cursor()  # SQLite's or psycopg's
    with as_peewee_errors:
        if is_sqlite(database):
            marks = ", ".join("?" * len(table._meta.sorted_fields))
            into = f"INSERT INTO {_name(table)} ({_columns(table)})"
            cursor.executemany(f"{into} VALUES ({marks})", rows)
        else:
            into = f"COPY {_name(table)} ({_columns(table)}) FROM STDIN"
            with cursor.copy(into) as copy:
                for row in rows:
                    copy.write_row(row)
    return max(0, cursor.rowcount)  # -1 where there was none


def has_assigned_ids(table: type[Model]) -> bool:
    """Return whether the database assigns an id to each row."""
    return isinstance(table._meta.primary_key, BigAutoField)


def last_id(database: Engine, table: type[Model]) -> int:
    """Return the last id that was assigned, perhaps to a deleted row; 0 for none."""
    if is_sqlite(database):
        query = "SELECT seq FROM sqlite_sequence WHERE name = ?"
        row = database.execute_sql(query, (table._meta.table_name,)).fetchone()
        return row[0] if row else 0
    query = "SELECT coalesce(last_value, 0) FROM pg_sequences WHERE sequencename = %s"
    return database.execute_sql(query, (_ids(table),)).fetchone()[0]


def continue_ids_after(database: Engine, table: type[Model], last: int) -> None:
    """Make the next id greater than the last one."""
    if last and is_sqlite(database):
        name = table._meta.table_name
        database.execute_sql("DELETE FROM sqlite_sequence WHERE name = ?", (name,))
        database.execute_sql("INSERT INTO sqlite_sequence VALUES (?, ?)", (name, last))
    elif last:
        database.execute_sql("SELECT setval(%s, %s)", (_ids(table), last))


def _name(table: type[Model]) -> str:
    return f'"{table._meta.table_name}"'


def _columns(table: type[Model]) -> str:
    return ", ".join(f'"{field.column_name}"' for field in table._meta.sorted_fields)


def _ids(table: type[Model]) -> str:
    return f"{table._meta.table_name}_id_seq"
