"""Indexes for the lists of animals in a category, and with names that begin alike."""

from peewee import SqliteDatabase


def up(migrator, db):
    # Byte by byte, and with ASCII letters alone in lower case, on both databases.
    name = '"name"' if isinstance(db, SqliteDatabase) else '"name" COLLATE "C"'
    db.execute_sql(
        'CREATE INDEX "pet_project_id_category_id_id"'
        ' ON "pet" ("project_id", "category_id", "id")'
    )
    db.execute_sql(
        'CREATE INDEX "pet_project_id_lower_name_id"'
        f' ON "pet" ("project_id", LOWER({name}), "id")'
    )
