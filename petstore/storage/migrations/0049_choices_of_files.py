"""How somebody has chosen to read a file that waits.

The column may be null, and release 1.3.0, which may run beside this one, leaves it so.
"""


def up(migrator, db):
    db.execute_sql("ALTER TABLE upload ADD COLUMN choices TEXT")
