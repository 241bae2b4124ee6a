"""An order stays when its animal is withdrawn: no constraint refers to the animal."""

from peewee import SqliteDatabase

FOREIGN_KEY = ', FOREIGN KEY ("pet_id") REFERENCES "pet" ("id")'
# Requests lock one of the tables before the other. To wait for the second one while it
# holds the first would be a deadlock, so it gives up soon, and tries again.
LOCK_BOTH = """
DO $$
BEGIN
    SET LOCAL lock_timeout = '200ms';
    FOR attempt IN 1 .. 100 LOOP
        BEGIN
            LOCK TABLE pet, pet_order;
            RETURN;
        EXCEPTION WHEN lock_not_available THEN
            PERFORM pg_sleep(0.1);
        END;
    END LOOP;
    RAISE EXCEPTION 'others keep the tables pet and pet_order locked';
END $$
"""


def up(migrator, db):
    if not isinstance(db, SqliteDatabase):
        db.execute_sql(LOCK_BOTH)
        db.execute_sql("ALTER TABLE pet_order DROP CONSTRAINT pet_order_pet_id_fkey")
        return
    # As in 0010: it rewrites no row.
    [(version,)] = db.execute_sql("PRAGMA schema_version").fetchall()
    db.execute_sql("PRAGMA writable_schema = ON")
    db.execute_sql(
        "UPDATE sqlite_master SET sql = replace(sql, ?, '') "
        "WHERE type = 'table' AND name = 'pet_order'",
        (FOREIGN_KEY,),
    )
    db.execute_sql(f"PRAGMA schema_version = {version + 1}")
    db.execute_sql("PRAGMA writable_schema = OFF")
