"""The names of animals in the index by id, where a search reads the newest ones."""


def up(migrator, db):
    db.execute_sql(
        'CREATE INDEX "pet_project_id_id_name" ON "pet" ("project_id", "id", "name")'
    )
