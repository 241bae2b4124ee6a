"""The table of release 1.2.0, which cannot run beside this one any more."""


def up(migrator, db):
    db.execute_sql("DROP TABLE counter")
