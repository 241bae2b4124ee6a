"""Since when a project is suspended.

The column may be null, and release 1.3.0, which may run beside this one, leaves it so.
"""

from peewee import BigIntegerField
from playhouse.migrate import migrate


def up(migrator, db):
    column = BigIntegerField(null=True)
    migrate(migrator.add_column("project", "suspended_ms", column))
