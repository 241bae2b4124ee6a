"""How many animals, orders and categories a project holds; each is counted once.

The version before, which may still run beside this one, counts in columns of its own.
"""

from peewee import BigIntegerField


def up(migrator, db):
    number = BigIntegerField(null=True)
    migrator.migrate(migrator.add_column("project", "rows_held", number))
    db.execute_sql(
        'CREATE INDEX "project_id" ON "project" ("id") WHERE "rows_held" IS NULL'
    )
