"""Until when a project's DNS is being asked, so that nobody else asks meanwhile."""

from peewee import BigIntegerField


def up(migrator, db):
    column = BigIntegerField(null=True)
    migrator.migrate(migrator.add_column("domain_token", "turn_ends_ms", column))
