"""Events of one project about one topic, in their order."""


def up(migrator, db):
    migrator.migrate(
        migrator.add_index("activity", ("project_id", "topic", "id")),
        migrator.drop_index("activity", "activity_project_id_id"),
    )
