"""What imports have added, so that it can be taken back for a day.

Release 1.3.0, which may run beside this one, deletes projects without knowing it.
"""

from peewee import SqliteDatabase

TABLE = """
CREATE TABLE import (
  id {key},
  project_id {number} NOT NULL,
  at_ms {number} NOT NULL,
  actor TEXT NOT NULL,
  added {number} NOT NULL,
  first_id {number} NOT NULL,
  last_id {number} NOT NULL,
  categories TEXT NOT NULL,
  removed {number} NOT NULL DEFAULT 0,
  FOREIGN KEY (project_id) REFERENCES project (id) ON DELETE CASCADE
)
"""
OF_SQLITE = {"key": "INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT", "number": "INTEGER"}
OF_POSTGRESQL = {"key": "BIGSERIAL PRIMARY KEY", "number": "BIGINT"}


def up(migrator, db):
    types = OF_SQLITE if isinstance(db, SqliteDatabase) else OF_POSTGRESQL
    db.execute_sql(TABLE.format(**types))
    db.execute_sql("CREATE INDEX import_at_ms ON import (at_ms)")
    db.execute_sql("CREATE INDEX import_project_id_id ON import (project_id, id)")
