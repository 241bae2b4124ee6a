"""The plans are known to the code alone: no constraint names one."""

from peewee import SqliteDatabase

NAMES = "CHECK (plan IN ('free', 'pro', 'business', 'enterprise'))"
ON_ENTERPRISE = (
    "CHECK ((plan = 'enterprise') = (per_minute IS NOT NULL) AND "
    "(plan = 'enterprise') = (per_day IS NOT NULL))"
)
BOTH_LIMITS = "CHECK ((per_minute IS NULL) = (per_day IS NULL))"


def up(migrator, db):
    if not isinstance(db, SqliteDatabase):
        db.execute_sql(
            "ALTER TABLE project DROP CONSTRAINT project_plan_check, "
            f"DROP CONSTRAINT project_check, ADD {BOTH_LIMITS}"
        )
        return
    # SQLite documents this way for constraints: it rewrites no row, and other tables
    # go on referring to this one.
    [(version,)] = db.execute_sql("PRAGMA schema_version").fetchall()
    db.execute_sql("PRAGMA writable_schema = ON")
    db.execute_sql(
        "UPDATE sqlite_master SET sql = replace(replace(sql, ?, ''), ?, ?) "
        "WHERE type = 'table' AND name = 'project'",
        (NAMES, ON_ENTERPRISE, BOTH_LIMITS),
    )
    db.execute_sql(f"PRAGMA schema_version = {version + 1}")
    db.execute_sql("PRAGMA writable_schema = OFF")
