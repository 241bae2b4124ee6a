"""Keys for web pages are public: of those that may only read, the ones with limits.

Release 1.1.0, which may still run beside this one, knows them by these two.
"""

from peewee import BooleanField


def up(migrator, db):
    is_public = BooleanField(null=True)
    migrator.migrate(migrator.add_column("api_key", "is_public", is_public))
    db.execute_sql(
        "UPDATE api_key SET is_public = TRUE"
        " WHERE role = 'read' AND per_minute IS NOT NULL"
    )
