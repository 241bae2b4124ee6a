"""Names of categories as they are compared; see 0028."""

from peewee import TextField


def up(migrator, db):
    migrator.migrate(migrator.add_column("category", "folded", TextField(null=True)))
