"""Secrets that all processes share."""

from peewee import Model, TextField


def up(migrator, db):
    class Secret(Model):
        name = TextField(primary_key=True)
        text = TextField()

        class Meta:
            database = db

    db.create_tables([Secret], safe=False)
