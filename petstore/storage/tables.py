"""Tables as they are copied: all rows, with their ids."""

from collections.abc import Iterator

from peewee import BigAutoField, Field, Model

from petstore.storage.database import Engine
from petstore.storage.queries import Row


def copy(table: type[Model], source: Engine, target: Engine) -> int:
    """Copy every row with its id; return how many there were.

    To be called in a snapshot of the source and a transaction of the target.
    """
    name, fields = table._meta.table_name, table._meta.sorted_fields
    columns = [field.column_name for field in fields]
    count = target.insert_all(name, columns, _typed(read(source, table), fields))
    is_numbered = isinstance(table._meta.primary_key, BigAutoField)
    if is_numbered and (last := source.last_id(name)):
        target.continue_ids_after(name, last)
    return count


def read(database: Engine, table: type[Model]) -> Iterator[Row]:
    """Return every row of the table, one at a time; to be called in a snapshot."""
    select, _ = table.select().sql()
    return database.rows_of(table._meta.table_name, select)


def _typed(rows: Iterator[Row], fields: list[Field]) -> Iterator[Row]:
    """Return the rows in Python's types: a boolean is a number in SQLite."""
    for row in rows:
        yield tuple(
            field.python_value(value) for field, value in zip(fields, row, strict=True)
        )
