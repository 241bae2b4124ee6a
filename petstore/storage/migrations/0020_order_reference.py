"""Whose an order is, and an index for the orders of an animal."""

from peewee import TextField


def up(migrator, db):
    # The column comes last: until the commit, nobody reads the table after that.
    db.execute_sql(
        'CREATE INDEX "pet_order_project_id_pet_id_id"'
        ' ON "pet_order" ("project_id", "pet_id", "id")'
    )
    migrator.migrate(
        migrator.drop_index("pet_order", "pet_order_pet_id"),
        migrator.add_column("pet_order", "reference", TextField(null=True)),
    )
