"""What is recorded about domains has the names again that release 1.0.0 knows.

Only a database that was migrated between releases has others: 0011 renamed them there.
"""

RENAMED = (
    ("domain", "checked_ms", "looked_ms"),
    ("domain", "misdirected_since_ms", "astray_ms"),
    ("domain", "certificate_requested_ms", "certificate_asked_ms"),
    ("domain_token", "locked_until_ms", "turn_ends_ms"),
)


def up(migrator, db):
    if "looked_ms" in {column.name for column in db.get_columns("domain")}:
        return
    migrator.migrate(migrator.drop_index("domain", "domain_checked_ms"))
    for table, before, after in RENAMED:
        db.execute_sql(f"ALTER TABLE {table} RENAME COLUMN {before} TO {after}")
    migrator.migrate(migrator.add_index("domain", ("looked_ms",)))
