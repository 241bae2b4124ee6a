"""Sessions of the dashboard."""

from peewee import BigIntegerField, ForeignKeyField, Model, TextField


def up(migrator, db):
    class ApiKey(Model):
        id = BigIntegerField(primary_key=True)

        class Meta:
            database = db
            legacy_table_names = False

    class Session(Model):
        digest = TextField(primary_key=True)
        key = ForeignKeyField(ApiKey, index=False)
        ends_ms = BigIntegerField(index=True)

        class Meta:
            database = db
            legacy_table_names = False

    db.create_tables([Session], safe=False)
