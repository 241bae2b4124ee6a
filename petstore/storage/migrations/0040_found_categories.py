"""Those names are filled in, and have an index; so do rows that have none yet.

The version before, which may still run beside this one, adds some.
"""

import unicodedata

from peewee import BigIntegerField, Model, TextField


class Category(Model):
    project_id = BigIntegerField()
    id = BigIntegerField()
    name = TextField(null=True)
    folded = TextField(null=True)

    class Meta:
        primary_key = False


def up(migrator, db):
    with db.bind_ctx([Category]):
        for project_id, number, name in Category.select(
            Category.project_id, Category.id, Category.name
        ).tuples():
            folded = unicodedata.normalize("NFC", (name or "").strip().casefold())
            Category.update(folded=folded).where(
                Category.project_id == project_id, Category.id == number
            ).execute()
    migrator.migrate(migrator.add_index("category", ("project_id", "folded")))
    db.execute_sql(
        'CREATE INDEX "category_project_id_id" ON "category" ("project_id", "id") '
        'WHERE "folded" IS NULL'
    )
