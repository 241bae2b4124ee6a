"""Those names are filled in; housekeeping fills in what release 1.1.0 still adds."""

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
        Category.update(folded="").where(Category.name.is_null()).execute()
        named = Category.select(Category.project_id, Category.id, Category.name)
        for project_id, number, name in named.where(Category.name != "").tuples():
            folded = unicodedata.normalize("NFC", name.strip().casefold())
            Category.update(folded=folded).where(
                Category.project_id == project_id, Category.id == number
            ).execute()
