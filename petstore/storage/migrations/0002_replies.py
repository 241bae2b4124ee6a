"""Answers of requests that carried an Idempotency-Key."""

from peewee import (
    BigIntegerField,
    BlobField,
    CompositeKey,
    ForeignKeyField,
    Model,
    TextField,
)


def up(migrator, db):
    class Project(Model):
        id = BigIntegerField(primary_key=True)

        class Meta:
            database = db

    class Reply(Model):
        project = ForeignKeyField(Project, index=False)
        path = TextField()
        key = TextField()
        fingerprint = BlobField()
        created_ms = BigIntegerField(index=True)
        status = BigIntegerField(null=True)
        location = TextField(null=True)
        body = BlobField(null=True)

        class Meta:
            database = db
            legacy_table_names = False
            primary_key = CompositeKey("project", "path", "key")

    db.create_tables([Reply], safe=False)
