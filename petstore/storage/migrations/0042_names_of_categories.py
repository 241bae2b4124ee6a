"""The schema; a database of release 1.1.0, or of a step since, is brought to it.

That release may be serving meanwhile. So each transaction locks one table, none builds
an index of a table that it has locked against reading, and what is interrupted can be
done again.
"""

import unicodedata
from contextlib import contextmanager

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

atomic = False
LOCK = -1  # any fixed number
# No search reads them.
OUTDATED_INDEXES = (
    "pet_project_id_id_name",
    "category_project_id_name",
    "activity_project_id_id",
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
        rows_held = BigIntegerField(null=True)

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
        is_public = BooleanField(null=True)

    class Category(Table):
        project = ForeignKeyField(Project, index=False)
        id = BigIntegerField()
        name = TextField(null=True)
        folded = TextField(null=True)

        class Meta:
            primary_key = CompositeKey("project", "id")
            # Without the id: an index with all columns would be preferred to the
            # primary key, and read in full for a page of categories.
            indexes = ((("project", "folded"), False),)

    class Pet(Table):
        id = BigAutoField(constraints=never_twice)
        project = ForeignKeyField(Project, index=False)
        name = TextField()
        category_id = BigIntegerField()
        status = TextField(
            constraints=[Check("status IN ('available', 'pending', 'sold')")]
        )
        folded = TextField(null=True)
        added_ms = BigIntegerField(null=True)
        added_by = TextField(null=True)
        changed_ms = BigIntegerField(null=True)
        changed_by = TextField(null=True)

        class Meta:
            indexes = (
                (("project", "id", "folded"), False),
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
        folded = TextField(null=True)

        class Meta:
            indexes = (
                (("project", "id"), False),
                (("project", "status", "id"), False),
                (("project", "pet_id", "id"), False),
                (("project", "pet_id", "status", "id"), False),
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

    class Upload(Table):
        session = ForeignKeyField(Session, primary_key=True, on_delete="CASCADE")
        name = TextField()
        content = BlobField()
        at_ms = BigIntegerField(index=True)

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
        topic = TextField(constraints=[SQL("DEFAULT 'settings'")])

        class Meta:
            indexes = ((("project", "topic", "id"), False),)

    # Of all the projects that have added a domain, one has it.
    Domain.add_index(Domain.name, unique=True, where=Domain.verified_ms.is_null(False))
    # For housekeeping: what release 1.1.0 has added.
    Project.add_index(Project.id, where=Project.rows_held.is_null())
    Category.add_index(Category.project, Category.id, where=Category.folded.is_null())
    Pet.add_index(Pet.id, where=Pet.folded.is_null())
    PetOrder.add_index(PetOrder.id, where=PetOrder.folded.is_null())
    ends = (
        "(COALESCE(revoked_ms,"
        " CASE WHEN retires_ms < expires_ms THEN retires_ms"
        " ELSE COALESCE(expires_ms, retires_ms) END, 9223372036854775807))"
    )
    ApiKey.add_index(ApiKey.project, SQL(ends), ApiKey.id, name="api_key_ends")

    with locked(db):
        if not Project.table_exists():
            db.create_tables(Table.__subclasses__())
    with locked(db):
        db.create_tables([Upload])
    for table in (Project, ApiKey, Category, Pet, PetOrder, Activity):
        with locked(db):
            add_columns(migrator, table)
        with locked(db):
            db.create_tables([table])  # with its indexes
    with locked(db):
        # Keys for web pages: release 1.1.0 knows them by these two.
        db.execute_sql(
            "UPDATE api_key SET is_public = TRUE"
            " WHERE role = 'read' AND per_minute IS NOT NULL"
        )
    with locked(db):
        fold_names(Category)
    for name in OUTDATED_INDEXES:
        with locked(db):
            db.execute_sql(f"DROP INDEX IF EXISTS {name}")


@contextmanager
def locked(db):
    with db.atomic():
        db.lock_until_commit(LOCK)
        yield


def add_columns(migrator, table):
    name = table._meta.table_name
    there = {column.name for column in migrator.database.get_columns(name)}
    for field in table._meta.sorted_fields:
        if (column := field.column_name) not in there:
            added = migrator.add_column(name, column, field, allow_not_null=True)
            migrator.migrate(added)


def fold_names(category):
    unfolded = category.folded.is_null()
    category.update(folded="").where(unfolded, category.name.is_null()).execute()
    named = category.select(category.project, category.id, category.name)
    for project, number, name in named.where(unfolded).tuples():
        folded = unicodedata.normalize("NFC", name.strip().casefold())
        row = (category.project == project) & (category.id == number)
        category.update(folded=folded).where(row).execute()
