"""An installation that has counted without an id goes on to count without one."""


def up(migrator, db):
    db.execute_sql(
        "INSERT INTO secret (name, text) "
        "SELECT 'installation', '' WHERE EXISTS (SELECT 1 FROM project)"
    )
