"""Tables as they are copied: all rows, with their ids."""

from collections.abc import Iterator

from peewee import BigAutoField, Model, Tuple, chunked

from petstore.storage.database import Engine
from petstore.storage.queries import Row

COPIED_AT_ONCE = 1000  # rows; a statement may have 32,766 values


def copy(table: type[Model], source: Engine, target: Engine) -> None:
    """Copy every row with its id.

    To be called in a snapshot of the source and a transaction of the target.
    """
    for rows in chunked(read(source, table), COPIED_AT_ONCE):
        _insert(table, target, rows)
    name = table._meta.table_name
    is_numbered = isinstance(table._meta.primary_key, BigAutoField)
    if is_numbered and (last := source.last_id(name)):
        target.continue_ids_after(name, last)


def _insert(table: type[Model], target: Engine, rows: list[Row]) -> None:
    # Peewee's own `insert_many` would take most of the time of a copy.
    columns = ", ".join(field.column_name for field in table._meta.sorted_fields)
    marks = ", ".join([target.param] * len(rows[0]))
    values = ", ".join([f"({marks})"] * len(rows))
    insert = f'INSERT INTO "{table._meta.table_name}" ({columns}) VALUES {values}'  # noqa: S608 (no values)
    target.execute_sql(insert, [value for row in rows for value in row])


def read(database: Engine, table: type[Model]) -> Iterator[Row]:
    """Return every row of the table, in Python's types; to be called in a snapshot."""
    fields, keys = table._meta.sorted_fields, table._meta.get_primary_keys()
    select = table.select().order_by(*keys).limit(COPIED_AT_ONCE)
    rows = list(select.tuples().execute(database))
    while rows:
        yield from rows
        last = dict(zip(fields, rows[-1], strict=True))
        is_after = Tuple(*keys) > Tuple(*(last[key] for key in keys))
        rows = list(select.where(is_after).tuples().execute(database))
