"""An index for searches, and one of the animals whose names are not folded yet."""


def up(migrator, db):
    migrator.migrate(migrator.add_index("pet", ("project_id", "id", "folded")))
    db.execute_sql('CREATE INDEX "pet_id" ON "pet" ("id") WHERE "folded" IS NULL')
