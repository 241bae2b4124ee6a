"""The databases of this process, as they are inside."""

import psycopg

from petstore.database import counters, data

Shape = dict[str, tuple[list, list, list]]


def close() -> None:
    """Close every connection of this thread, and those that nobody uses."""
    for database in {data.obj, counters.obj}:
        database.disconnect()


# To truncate a table takes a millisecond, and most of them hold a few rows.
EMPTY = """
CREATE FUNCTION empty_tables() RETURNS void LANGUAGE plpgsql AS $$
DECLARE part record;
BEGIN
    SET LOCAL session_replication_role = replica;
    FOR part IN SELECT tablename AS name FROM pg_tables
        WHERE schemaname = 'public' AND tablename NOT LIKE '%migration'
    LOOP
        IF pg_relation_size(part.name::regclass) < 65536 THEN
            EXECUTE format('DELETE FROM %I', part.name);
        ELSE
            EXECUTE format('TRUNCATE %I CASCADE', part.name);
        END IF;
    END LOOP;
    FOR part IN SELECT sequencename AS name FROM pg_sequences
        WHERE schemaname = 'public' AND sequencename NOT LIKE '%migration%'
    LOOP
        PERFORM setval(part.name::regclass, 1, false);
    END LOOP;
END $$
"""


def empty(connection: psycopg.Connection) -> None:
    """Take every row from a PostgreSQL database, and begin ids anew."""
    connection.execute("SELECT empty_tables()")


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
