"""Find the keys that work without reading ended ones, and count what is limited."""

from peewee import (
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

    class LimitedAction(Table):
        project = ForeignKeyField(Project, index=False)
        action = TextField()
        subject = TextField()
        done_ms = BigIntegerField()

        class Meta:
            primary_key = CompositeKey("project", "action", "subject")

    class Session(Table):
        digest = TextField(primary_key=True)
        key = ForeignKeyField(ApiKey, on_delete="CASCADE")
        ends_ms = BigIntegerField(index=True)

    db.create_tables([LimitedAction], safe=False)
    migrator.migrate(migrator.drop_index("api_key", "api_key_project_id"))
    db.execute_sql(
        "CREATE INDEX api_key_ends ON api_key (project_id, "
        "(COALESCE(revoked_ms,"
        " CASE WHEN retires_ms < expires_ms THEN retires_ms"
        " ELSE COALESCE(expires_ms, retires_ms) END, 9223372036854775807)), id)"
    )
    # SQLite cannot change a foreign key of a table.
    rows = list(Session.select().tuples())
    db.drop_tables([Session])
    db.create_tables([Session], safe=False)
    for row in rows:
        Session.insert_many([row], fields=Session._meta.sorted_fields).execute()
