"""Orders of one animal with one status."""


def up(migrator, db):
    columns = ("project_id", "pet_id", "status", "id")
    migrator.migrate(migrator.add_index("pet_order", columns))
