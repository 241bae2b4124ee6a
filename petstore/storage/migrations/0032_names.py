"""Without the index of names in one case and with accents: no search reads it."""


def up(migrator, db):
    # In a transaction of its own: for this, PostgreSQL locks the table for a moment
    # even against reading.
    migrator.migrate(migrator.drop_index("pet", "pet_project_id_id_name"))
