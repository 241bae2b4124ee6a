"""An index of the checks for rows of release 1.1.0."""


def up(migrator, db):
    db.execute_sql("DROP INDEX category_project_id_id")
