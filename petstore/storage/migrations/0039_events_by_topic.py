"""Events of one project about one topic, in their order."""


def up(migrator, db):
    migrator.migrate(migrator.add_index("activity", ("project_id", "topic", "id")))
