"""How many rows a project holds and may hold, its deletion, and every slug."""

from peewee import BigIntegerField, Model, TextField

COLUMNS = ("max_rows", "rows_used", "rows_counted_ms", "deleted_ms")


def up(migrator, db):
    class Slug(Model):
        slug = TextField(primary_key=True)

        class Meta:
            database = db

    for column in COLUMNS:
        number = BigIntegerField(null=True)
        migrator.migrate(migrator.add_column("project", column, number))
    db.create_tables([Slug], safe=False)
    db.execute_sql("INSERT INTO slug SELECT slug FROM project")
