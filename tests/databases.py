"""The databases of this process, as they are inside."""

from petstore.database import counters, data

Shape = dict[str, tuple[list, list, list]]


def close() -> None:
    """Close every connection of this thread, and those that nobody uses."""
    for database in {data.obj, counters.obj}:
        database.disconnect()


def shape_of(database: object) -> Shape:
    """Columns, indexes and foreign keys of each table, as the engine knows them."""
    return {
        table: (
            database.get_columns(table),
            sorted(database.get_indexes(table)),
            sorted(database.get_foreign_keys(table)),
        )
        for table in database.get_tables()
        if not table.endswith("migration") and not table.startswith("sqlite_")
    }
