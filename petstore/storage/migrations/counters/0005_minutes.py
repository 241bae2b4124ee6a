"""The minute of a subject, in the row of its day.

Release 1.4.0, which may run beside this one, counts it in a row of its own.
"""

from peewee import SqliteDatabase


def up(migrator, db):
    number = "INTEGER" if isinstance(db, SqliteDatabase) else "BIGINT"
    for name, check in (
        ("minute_ends_ms", ""),
        ("minute_most", ""),
        ("minute_used", "CHECK (minute_used <= minute_most)"),
    ):
        column = f"{name} {number} NOT NULL DEFAULT 0 {check}"
        db.execute_sql(f"ALTER TABLE window_counter ADD COLUMN {column}")
