"""An index for the animals of a category that have a status."""


def up(migrator, db):
    db.execute_sql(
        'CREATE INDEX "pet_project_id_category_id_status_id"'
        ' ON "pet" ("project_id", "category_id", "status", "id")'
    )
