"""Tables as they are copied: rows in bulk, and the last id that was given out."""

from collections.abc import Iterator
from contextlib import contextmanager
from os.path import samefile
from pathlib import Path

from peewee import BigAutoField, Database, Model, __exception_wrapper__

from petstore.database import is_sqlite

# Any fixed number: where it is taken, there is the database in which it was taken.
ONE_DATABASE_LOCK = -2


def are_one(database: Database, other: Database) -> bool:
    """Whether both are the same database, under two names perhaps."""
    if is_sqlite(database) or is_sqlite(other):
        files = [Path(each.database) for each in (database, other) if is_sqlite(each)]
        return len(files) == 2 and all(f.exists() for f in files) and samefile(*files)
    with database.atomic(), other.atomic():
        database.lock_until_commit(ONE_DATABASE_LOCK)
        query = "SELECT pg_try_advisory_xact_lock(%s)"
        return not other.execute_sql(query, (ONE_DATABASE_LOCK,)).fetchone()[0]


@contextmanager
def snapshot(database: Database) -> Iterator[None]:
    """See everything as it is at one moment, and hold nobody up."""
    if is_sqlite(database):
        with database.atomic("DEFERRED"):
            yield
    else:
        with database.atomic():
            database.execute_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            yield


def is_empty(database: Database, table: type[Model]) -> bool:
    """Whether the table has no row."""
    return not table.select().exists(database)


def read(database: Database, table: type[Model]) -> Iterator[tuple]:
    """Every row of the table, a few at a time."""
    return table.select().tuples().iterator(database)


def write(database: Database, table: type[Model], rows: Iterator[tuple]) -> int:
    """Add the rows, with the ids that they have; how many there were."""
    cursor = database.connection().cursor()
    with __exception_wrapper__:
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


def has_ids_of_its_own(table: type[Model]) -> bool:
    """Whether the database gives each row an id."""
    return isinstance(table._meta.primary_key, BigAutoField)


def last_id(database: Database, table: type[Model]) -> int:
    """The last id that was given out, to a row that is deleted perhaps; 0 for none."""
    if is_sqlite(database):
        query = "SELECT seq FROM sqlite_sequence WHERE name = ?"
        row = database.execute_sql(query, (table._meta.table_name,)).fetchone()
        return row[0] if row else 0
    query = "SELECT coalesce(last_value, 0) FROM pg_sequences WHERE sequencename = %s"
    return database.execute_sql(query, (_ids(table),)).fetchone()[0]


def go_on_after(database: Database, table: type[Model], last: int) -> None:
    """Let the next id be greater than the last one."""
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
