"""The category of a project whose animals are moving to another one.

Release 1.3.0, which does not know this table, deletes projects too.
"""

from peewee import SqliteDatabase

TABLE = """
CREATE TABLE category_merge (
  project_id {0} NOT NULL PRIMARY KEY,
  source {0} NOT NULL,
  target {0} NOT NULL,
  moved_id {0} NOT NULL,
  begun_by TEXT NOT NULL,
  FOREIGN KEY (project_id) REFERENCES project (id) ON DELETE CASCADE
)
"""


def up(migrator, db):
    number = "INTEGER" if isinstance(db, SqliteDatabase) else "BIGINT"
    db.execute_sql(TABLE.format(number))
