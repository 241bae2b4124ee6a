"""The schema of release 1.1.0, whose last migration had this name.

A database of 1.1.0 has it behind it, with what only that release uses: here that is
left out. An older database is migrated by 1.1.0 first.
"""

from peewee import (
    SQL,
    BigAutoField,
    BigIntegerField,
    BlobField,
    BooleanField,
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
        plan = TextField()
        per_minute = BigIntegerField(null=True)
        per_day = BigIntegerField(null=True)
        created_ms = BigIntegerField()
        max_rows = BigIntegerField(null=True)
        deleted_ms = BigIntegerField(null=True)

        class Meta:
            constraints = [Check("(per_minute IS NULL) = (per_day IS NULL)")]

    class Slug(Table):
        slug = TextField(primary_key=True)

    class ApiKey(Table):
        id = BigAutoField(constraints=never_twice)
        project = ForeignKeyField(Project, index=False)
        prefix = TextField(unique=True)
        digest = BlobField()
        label = TextField(null=True)
        created_ms = BigIntegerField()
        last_used_ms = BigIntegerField(null=True)
        expires_ms = BigIntegerField(null=True)
        retires_ms = BigIntegerField(null=True)
        revoked_ms = BigIntegerField(null=True)
        banned_until_ms = BigIntegerField(null=True)
        role = TextField(constraints=[SQL("DEFAULT 'full'")])
        per_minute = BigIntegerField(null=True)
        per_day = BigIntegerField(null=True)
        origins = TextField(null=True)

    class Category(Table):
        project = ForeignKeyField(Project, index=False)
        id = BigIntegerField()
        name = TextField(null=True)

        class Meta:
            primary_key = CompositeKey("project", "id")
            # Without the id: an index with all columns would be preferred to the
            # primary key, and read in full for a page of categories.
            indexes = ((("project", "name"), False),)

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
                (("project", "id", "name"), False),
                (("project", "status", "id"), False),
                (("project", "category_id", "id"), False),
                (("project", "category_id", "status", "id"), False),
            )

    class PetOrder(Table):
        id = BigAutoField(constraints=never_twice)
        project = ForeignKeyField(Project, index=False)
        pet_id = BigIntegerField()
        status = TextField(
            constraints=[Check("status IN ('placed', 'completed', 'cancelled')")]
        )
        created_ms = BigIntegerField()
        updated_ms = BigIntegerField()
        reference = TextField(null=True)

        class Meta:
            indexes = (
                (("project", "id"), False),
                (("project", "status", "id"), False),
                (("project", "pet_id", "id"), False),
            )

    class Reply(Table):
        project = ForeignKeyField(Project, index=False)
        path = TextField()
        key = TextField()
        fingerprint = BlobField()
        created_ms = BigIntegerField(index=True)
        status = BigIntegerField(null=True)
        location = TextField(null=True)
        body = BlobField(null=True)

        class Meta:
            primary_key = CompositeKey("project", "path", "key")

    class DomainToken(Table):
        project = ForeignKeyField(Project, primary_key=True)
        token = TextField()

    class Domain(Table):
        id = BigAutoField(constraints=never_twice)
        project = ForeignKeyField(Project, index=False)
        name = TextField()
        created_ms = BigIntegerField()
        verified_ms = BigIntegerField(null=True)
        is_chosen = BooleanField()
        lost_ms = BigIntegerField(null=True)
        looked_ms = BigIntegerField(null=True, index=True)
        finding = TextField(null=True)
        astray_ms = BigIntegerField(null=True)
        certificate_issuer = TextField(null=True)
        certificate_expires_ms = BigIntegerField(null=True)
        certificate_fault = TextField(null=True)

        class Meta:
            indexes = ((("project", "name"), True),)
            constraints = [Check("verified_ms IS NOT NULL OR NOT is_chosen")]

    class Secret(Table):
        name = TextField(primary_key=True)
        text = TextField()

    class Session(Table):
        digest = TextField(primary_key=True)
        key = ForeignKeyField(ApiKey, on_delete="CASCADE")
        ends_ms = BigIntegerField(index=True)
        began_ms = BigIntegerField(null=True)
        seen_ms = BigIntegerField(null=True)

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

    class Activity(Table):
        id = BigAutoField(constraints=never_twice)
        project = ForeignKeyField(Project, index=False, on_delete="CASCADE")
        at_ms = BigIntegerField(index=True)
        name = TextField()
        actor = TextField()
        facts = TextField()

        class Meta:
            indexes = ((("project", "id"), False),)

    # Of all the projects that have added a domain, one has it.
    Domain.add_index(Domain.name, unique=True, where=Domain.verified_ms.is_null(False))
    db.create_tables(Table.__subclasses__(), safe=False)
    db.execute_sql(
        "CREATE INDEX api_key_ends ON api_key (project_id, "
        "(COALESCE(revoked_ms,"
        " CASE WHEN retires_ms < expires_ms THEN retires_ms"
        " ELSE COALESCE(expires_ms, retires_ms) END, 9223372036854775807)), id)"
    )
