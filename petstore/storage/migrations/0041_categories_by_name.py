"""Categories of one project by that name, and those that have none yet."""


def up(migrator, db):
    migrator.migrate(migrator.add_index("category", ("project_id", "folded")))
    db.execute_sql(
        'CREATE INDEX "category_project_id_id" ON "category" ("project_id", "id") '
        'WHERE "folded" IS NULL'
    )
