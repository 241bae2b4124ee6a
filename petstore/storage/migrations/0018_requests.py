"""Failed requests of a project, and how many requests each key has sent."""

from peewee import (
    BigAutoField,
    BigIntegerField,
    CompositeKey,
    ForeignKeyField,
    Model,
    TextField,
)


def up(migrator, db):
    class Table(Model):
        class Meta:
            database = db
            legacy_table_names = False

    class Project(Table):
        id = BigIntegerField(primary_key=True)

    class ApiKey(Table):
        id = BigIntegerField(primary_key=True)

    class FailedRequest(Table):
        id = BigAutoField()
        project = ForeignKeyField(Project, index=False, on_delete="CASCADE")
        at_ms = BigIntegerField()
        operation = TextField()
        status = BigIntegerField()
        code = TextField()
        message = TextField()
        key_prefix = TextField()
        request_id = TextField()

        class Meta:
            indexes = ((("project", "id"), False),)

    class KeyUsage(Table):
        key = ForeignKeyField(ApiKey, index=False, on_delete="CASCADE")
        day = BigIntegerField(index=True)
        served = BigIntegerField()
        refused = BigIntegerField()

        class Meta:
            primary_key = CompositeKey("key", "day")

    db.create_tables([FailedRequest, KeyUsage], safe=False)
