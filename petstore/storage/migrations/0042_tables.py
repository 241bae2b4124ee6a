"""All tables, as release 1.2.0 has them.

Databases of release 1.2.0 have them already: `migrator` knows the name under which that
release has recorded them.
"""

from pathlib import Path

from peewee import SqliteDatabase

TABLES = Path(__file__).with_suffix(".sql")
TYPES_OF_SQLITE = {
    # Without AUTOINCREMENT, SQLite gives the id of a deleted last row out again.
    "BIGSERIAL PRIMARY KEY": "INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT",
    "BIGINT": "INTEGER",
    "BOOLEAN": "INTEGER",
    "BYTEA": "BLOB",
}


def up(migrator, db):
    sql = TABLES.read_text()
    if isinstance(db, SqliteDatabase):
        for theirs, its in TYPES_OF_SQLITE.items():
            sql = sql.replace(theirs, its)
    for statement in sql.split(";\n")[:-1]:
        db.execute_sql(statement)
