"""All tables, as release 1.4.0 has them.

Databases of release 1.4.0 have them already: `migrator` knows the name under which that
release has recorded the last step. A new database records all of its names, so that
release 1.4.0 can serve it too.
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
# They count how often an animal was written.
TRIGGER_OF_SQLITE = """
CREATE TRIGGER pet_writes AFTER UPDATE OF name, category_id, status ON pet
BEGIN
  UPDATE pet SET writes = writes + 1 WHERE id = NEW.id;
END
"""
FUNCTION = """
CREATE FUNCTION count_pet_writes() RETURNS trigger LANGUAGE plpgsql AS
'BEGIN NEW.writes := OLD.writes + 1; RETURN NEW; END'
"""
TRIGGER = """
CREATE TRIGGER pet_writes BEFORE UPDATE OF name, category_id, status ON pet
FOR EACH ROW EXECUTE FUNCTION count_pet_writes()
"""
STEPS = """
0042_tables 0043_end_of_release_1_1_0 0044_memory_of_orders 0045_suspended_projects
0046_writes_of_animals 0047_foldings 0048_joined_categories 0049_choices_of_files
0050_imports
"""


def up(migrator, db):
    sql, triggers = TABLES.read_text().replace("FOLDING", "'\x1f'"), [FUNCTION, TRIGGER]
    if isinstance(db, SqliteDatabase):
        triggers = [TRIGGER_OF_SQLITE]
        for theirs, its in TYPES_OF_SQLITE.items():
            sql = sql.replace(theirs, its)
    for statement in [*sql.split(";\n")[:-1], *triggers]:
        db.execute_sql(statement)
    for name in STEPS.split():
        values = f"VALUES ('{name}', CURRENT_TIMESTAMP)"
        db.execute_sql(f"INSERT INTO migration (name, applied) {values}")
