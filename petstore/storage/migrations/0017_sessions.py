"""When each session of the dashboard began and was last seen."""

from peewee import BigIntegerField


def up(migrator, db):
    for column in ("began_ms", "seen_ms"):
        instant = BigIntegerField(null=True)
        migrator.migrate(migrator.add_column("session", column, instant))
