"""How often an animal was written, and which of these writes has closed an order.

A trigger counts, so that what release 1.3.0 writes beside this one is counted too.
"""

from peewee import SqliteDatabase

COLUMNS = ("writes {} NOT NULL DEFAULT 0", "closed_order {}", "closed_write {}")
OF_SQLITE = """
CREATE TRIGGER pet_writes AFTER UPDATE OF name, category_id, status ON pet
BEGIN
  UPDATE pet SET writes = writes + 1 WHERE id = NEW.id;
END
"""
FUNCTION = """
CREATE FUNCTION count_pet_writes() RETURNS trigger LANGUAGE plpgsql AS
'BEGIN NEW.writes := OLD.writes + 1; RETURN NEW; END'
"""
OF_POSTGRESQL = """
CREATE TRIGGER pet_writes BEFORE UPDATE OF name, category_id, status ON pet
FOR EACH ROW EXECUTE FUNCTION count_pet_writes()
"""


def up(migrator, db):
    is_sqlite = isinstance(db, SqliteDatabase)
    for column in COLUMNS:
        typed = column.format("INTEGER" if is_sqlite else "BIGINT")
        db.execute_sql(f"ALTER TABLE pet ADD COLUMN {typed}")
    for statement in [OF_SQLITE] if is_sqlite else [FUNCTION, OF_POSTGRESQL]:
        db.execute_sql(statement)
