"""Projects, their keys, animals and categories."""

from peewee import (
    SQL,
    BigAutoField,
    BigIntegerField,
    BlobField,
    Check,
    CompositeKey,
    ForeignKeyField,
    Model,
    SqliteDatabase,
    TextField,
)


def up(migrator, db):
    # Without AUTOINCREMENT, SQLite gives the id of a deleted last row out again.
    never_twice = [SQL("AUTOINCREMENT")] if isinstance(db, SqliteDatabase) else []

    class Table(Model):
        class Meta:
            database = db
            legacy_table_names = False

    class Project(Table):
        id = BigAutoField(constraints=never_twice)
        slug = TextField(unique=True)
        name = TextField()
        plan = TextField(
            constraints=[Check("plan IN ('free', 'pro', 'business', 'enterprise')")]
        )
        per_minute = BigIntegerField(null=True)
        per_day = BigIntegerField(null=True)
        created_ms = BigIntegerField()

        class Meta:
            constraints = [
                Check(
                    "(plan = 'enterprise') = (per_minute IS NOT NULL) AND "
                    "(plan = 'enterprise') = (per_day IS NOT NULL)"
                )
            ]

    class ApiKey(Table):
        id = BigAutoField(constraints=never_twice)
        project = ForeignKeyField(Project)
        prefix = TextField(unique=True)
        digest = BlobField()
        label = TextField(null=True)
        created_ms = BigIntegerField()
        last_used_ms = BigIntegerField(null=True)
        expires_ms = BigIntegerField(null=True)
        retires_ms = BigIntegerField(null=True)
        revoked_ms = BigIntegerField(null=True)
        banned_until_ms = BigIntegerField(null=True)

    class Category(Table):
        project = ForeignKeyField(Project, index=False)
        id = BigIntegerField()
        name = TextField(null=True)

        class Meta:
            primary_key = CompositeKey("project", "id")

    class Pet(Table):
        id = BigAutoField(constraints=never_twice)
        project = ForeignKeyField(Project, index=False)
        name = TextField()
        category_id = BigIntegerField()
        status = TextField(
            constraints=[Check("status IN ('available', 'pending', 'sold')")]
        )

        class Meta:
            indexes = (
                (("project", "id"), False),
                (("project", "status", "id"), False),
            )

    db.create_tables([Project, ApiKey, Category, Pet], safe=False)
