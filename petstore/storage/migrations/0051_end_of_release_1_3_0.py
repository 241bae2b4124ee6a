"""What release 1.3.0 has left, and the roles of keys for releases before 1.4.0.

The indexes `pet_outdated` and `pet_order_outdated`, and the column `is_public`, stay
for release 1.4.0, which may run beside this one; the release after this one drops them.
"""

from playhouse.migrations import MigrationError

# As the indexes have it.
OUTDATED = "SUBSTR({}, 1, 1) != '\x1f'"


def up(migrator, db):
    for table, *columns in (("pet", "folded"), ("pet_order", "folded", "pet_folded")):
        where = " OR ".join(map(OUTDATED.format, columns))
        query = f"SELECT 1 FROM {table} WHERE {where} LIMIT 1"  # noqa: S608 (constants)
        if db.execute_sql(query).fetchone():
            raise MigrationError(
                "release 1.3.0 has left names that searches do not find; "
                "serve with release 1.4.0 for some minutes, which completes them"
            )
    db.execute_sql("UPDATE api_key SET role = 'public' WHERE is_public")
