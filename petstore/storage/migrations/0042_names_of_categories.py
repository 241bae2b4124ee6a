"""The tables of release 1.1.0, which a new database gets here, and what came since.

Release 1.1.0 may be serving meanwhile. So each transaction locks one table, none builds
an index of a table that it has locked against reading, and what is interrupted can be
done again.
"""

import unicodedata
from contextlib import contextmanager
from pathlib import Path

from peewee import SqliteDatabase, Table

atomic = False
LOCK = -1  # that of the migrator
RELEASE_1_1_0 = Path(__file__).with_name("release_1_1_0.sql")
TYPES_OF_SQLITE = {
    # Without AUTOINCREMENT, SQLite gives the id of a deleted last row out again.
    "BIGSERIAL PRIMARY KEY": "INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT",
    "BIGINT": "INTEGER",
    "BOOLEAN": "INTEGER",
    "BYTEA": "BLOB",
}
# Release 1.1.0 adds rows without them.
COLUMNS = {
    "project": ("rows_held BIGINT",),
    "api_key": ("is_public BOOLEAN",),
    "category": ("folded TEXT",),
    "pet": (
        "folded TEXT",
        "added_ms BIGINT",
        "added_by TEXT",
        "changed_ms BIGINT",
        "changed_by TEXT",
    ),
    "pet_order": ("folded TEXT",),
    "activity": ("topic TEXT NOT NULL DEFAULT 'settings'",),
}
UPLOADS = """CREATE TABLE IF NOT EXISTS upload (
    session_id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    content BYTEA NOT NULL,
    at_ms BIGINT NOT NULL,
    FOREIGN KEY (session_id) REFERENCES session (digest) ON DELETE CASCADE
)"""
INDEXES = {
    "upload_at_ms": "upload (at_ms)",
    "pet_project_id_id_folded": "pet (project_id, id, folded)",
    "pet_order_project_id_pet_id_status_id": (
        "pet_order (project_id, pet_id, status, id)"
    ),
    # Without the id: an index with all columns would be preferred to the primary key,
    # and read in full for a page of categories.
    "category_project_id_folded": "category (project_id, folded)",
    "activity_project_id_topic_id": "activity (project_id, topic, id)",
    # For housekeeping: keys that have ended, and what release 1.1.0 has added.
    "api_key_ended": (
        "api_key ((COALESCE(revoked_ms, CASE WHEN retires_ms < expires_ms"
        " THEN retires_ms ELSE COALESCE(expires_ms, retires_ms) END,"
        " 9223372036854775807)))"
    ),
    "project_id": "project (id) WHERE rows_held IS NULL",
    "pet_id": "pet (id) WHERE folded IS NULL",
    "pet_order_id": "pet_order (id) WHERE folded IS NULL",
    "category_project_id_id": "category (project_id, id) WHERE folded IS NULL",
}
OUTDATED_INDEXES = (
    "pet_project_id_id_name",
    "category_project_id_name",
    "activity_project_id_id",
)
# Keys for web pages: release 1.1.0 knows them by these two.
PUBLIC_KEYS = (
    "UPDATE api_key SET is_public = TRUE WHERE role = 'read' AND per_minute IS NOT NULL"
)


def up(migrator, db):
    with locked(db):
        if not db.table_exists("project"):
            create_old_tables(db)
    for table, columns in COLUMNS.items():
        with locked(db):
            there = {column.name for column in db.get_columns(table)}
            for column in columns:
                if column.partition(" ")[0] not in there:
                    run(db, f"ALTER TABLE {table} ADD COLUMN {column}")
    for statement in (
        UPLOADS,
        *(f"CREATE INDEX IF NOT EXISTS {name} ON {on}" for name, on in INDEXES.items()),
        *(f"DROP INDEX IF EXISTS {name}" for name in OUTDATED_INDEXES),
        PUBLIC_KEYS,
    ):
        with locked(db):
            run(db, statement)
    with locked(db):
        fold_names(db)


def create_old_tables(db):
    for statement in RELEASE_1_1_0.read_text().split(";\n")[:-1]:
        run(db, statement)


@contextmanager
def locked(db):
    with db.atomic():
        db.lock_until_commit(LOCK)
        yield


def run(db, statement):
    if isinstance(db, SqliteDatabase):
        for theirs, its in TYPES_OF_SQLITE.items():
            statement = statement.replace(theirs, its)
    db.execute_sql(statement)


def fold_names(db):
    category = Table("category", ("project_id", "id", "name", "folded")).bind(db)
    unfolded = category.folded.is_null()
    category.update(folded="").where(unfolded, category.name.is_null()).execute()
    named = category.select(category.project_id, category.id, category.name)
    for project_id, number, name in named.where(unfolded).tuples():
        folded = unicodedata.normalize("NFC", " ".join(name.casefold().split()))
        row = (category.project_id == project_id) & (category.id == number)
        category.update(folded=folded).where(row).execute()
