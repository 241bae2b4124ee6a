"""What happened in a project."""

from peewee import (
    SQL,
    BigAutoField,
    BigIntegerField,
    ForeignKeyField,
    Model,
    SqliteDatabase,
    TextField,
)


def up(migrator, db):
    # Without AUTOINCREMENT, SQLite gives the id of a deleted last row out again.
    never_twice = [SQL("AUTOINCREMENT")] if isinstance(db, SqliteDatabase) else []

    class Project(Model):
        id = BigIntegerField(primary_key=True)

        class Meta:
            database = db

    class Activity(Model):
        id = BigAutoField(constraints=never_twice)
        project = ForeignKeyField(Project, index=False, on_delete="CASCADE")
        at_ms = BigIntegerField(index=True)
        name = TextField()
        actor = TextField()
        facts = TextField()

        class Meta:
            database = db
            legacy_table_names = False
            indexes = ((("project", "id"), False),)

    db.create_tables([Activity], safe=False)
