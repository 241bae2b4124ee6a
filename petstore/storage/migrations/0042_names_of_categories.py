"""Without the index of names in one case; see 0032."""


def up(migrator, db):
    migrator.migrate(migrator.drop_index("category", "category_project_id_name"))
