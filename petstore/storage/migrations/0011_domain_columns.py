"""Name what is recorded about domains as the code does."""

RENAMED = (
    ("domain", "looked_ms", "checked_ms"),
    ("domain", "astray_ms", "misdirected_since_ms"),
    ("domain", "certificate_asked_ms", "certificate_requested_ms"),
    ("domain_token", "turn_ends_ms", "locked_until_ms"),
)


def up(migrator, db):
    migrator.migrate(migrator.drop_index("domain", "domain_looked_ms"))
    for table, before, after in RENAMED:
        db.execute_sql(f"ALTER TABLE {table} RENAME COLUMN {before} TO {after}")
    migrator.migrate(migrator.add_index("domain", ("checked_ms",)))
