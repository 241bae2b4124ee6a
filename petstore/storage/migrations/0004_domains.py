"""Domains of projects, and the tokens that prove whose they are."""

from peewee import (
    SQL,
    BigAutoField,
    BigIntegerField,
    BooleanField,
    Check,
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

    class DomainToken(Model):
        project = ForeignKeyField(Project, primary_key=True)
        token = TextField()

        class Meta:
            database = db
            legacy_table_names = False

    class Domain(Model):
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
        certificate_asked_ms = BigIntegerField(null=True)
        certificate_issuer = TextField(null=True)
        certificate_expires_ms = BigIntegerField(null=True)
        certificate_fault = TextField(null=True)

        class Meta:
            database = db
            legacy_table_names = False
            indexes = ((("project", "name"), True),)
            constraints = [Check("verified_ms IS NOT NULL OR NOT is_chosen")]

    # Of all the projects that have added a domain, one has it.
    Domain.add_index(Domain.name, unique=True, where=Domain.verified_ms.is_null(False))
    db.create_tables([DomainToken, Domain], safe=False)
