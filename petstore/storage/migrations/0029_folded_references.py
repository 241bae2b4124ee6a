"""References of orders as a search compares them; see 0028."""

from peewee import TextField


def up(migrator, db):
    migrator.migrate(migrator.add_column("pet_order", "folded", TextField(null=True)))
