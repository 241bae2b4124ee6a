"""Animals that are imported in parts, and an index that finds categories by name."""

from peewee import SQL, BigAutoField, ForeignKeyField, Model, SqliteDatabase, TextField


def up(migrator, db):
    # Without AUTOINCREMENT, SQLite gives the id of a deleted last row out again.
    never_twice = [SQL("AUTOINCREMENT")] if isinstance(db, SqliteDatabase) else []

    class Table(Model):
        class Meta:
            database = db
            legacy_table_names = False

    class Project(Table):
        id = BigAutoField()

    class ImportedPart(Table):
        id = BigAutoField(constraints=never_twice)
        project = ForeignKeyField(Project, index=False, on_delete="CASCADE")
        animals = TextField()

        class Meta:
            indexes = ((("project", "id"), False),)

    db.create_tables([ImportedPart], safe=False)
    # Without the id: an index with all columns would be preferred to the primary key,
    # and read in full for a page of categories.
    db.execute_sql(
        'CREATE INDEX "category_project_id_name" ON "category" ("project_id", "name")'
    )
