"""What release 1.1.0 has left: rows that release 1.2.0 completes, and a table."""

from playhouse.migrations import MigrationError

INCOMPLETE = ("project WHERE rows_held", "category WHERE folded")
INCOMPLETE += ("pet WHERE folded", "pet_order WHERE folded")


def up(migrator, db):
    for rows in INCOMPLETE:
        query = f"SELECT 1 FROM {rows} IS NULL LIMIT 1"  # noqa: S608 (a constant)
        if db.execute_sql(query).fetchone():
            raise MigrationError(
                "release 1.1.0 has left incomplete rows; "
                "serve with release 1.2.0 for some minutes, which completes them"
            )
    db.execute_sql("DROP TABLE IF EXISTS limited_action")
