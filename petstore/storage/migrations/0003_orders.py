"""Orders of animals."""

from peewee import (
    SQL,
    BigAutoField,
    BigIntegerField,
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

    class Pet(Model):
        id = BigIntegerField(primary_key=True)

        class Meta:
            database = db

    class PetOrder(Model):
        id = BigAutoField(constraints=never_twice)
        project = ForeignKeyField(Project, index=False)
        pet = ForeignKeyField(Pet)
        status = TextField(
            constraints=[Check("status IN ('placed', 'completed', 'cancelled')")]
        )
        created_ms = BigIntegerField()
        updated_ms = BigIntegerField()

        class Meta:
            database = db
            legacy_table_names = False
            table_name = "pet_order"
            indexes = (
                (("project", "id"), False),
                (("project", "status", "id"), False),
            )

    db.create_tables([PetOrder], safe=False)
