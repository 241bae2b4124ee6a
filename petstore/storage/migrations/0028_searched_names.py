"""Names of animals and references of orders as a search compares them.

The version before, which may still run beside this one, adds rows without them.
"""

from peewee import TextField


def up(migrator, db):
    for table in ("pet", "pet_order"):
        folded = TextField(null=True)
        migrator.migrate(migrator.add_column(table, "folded", folded))
        db.execute_sql(
            f'CREATE INDEX "{table}_id" ON "{table}" ("id") WHERE "folded" IS NULL'
        )
    migrator.migrate(
        migrator.add_index("pet", ("project_id", "id", "folded")),
        migrator.drop_index("pet", "pet_project_id_id_name"),
    )
