"""When animals were added and corrected, and by which key."""

from peewee import BigIntegerField, TextField


def up(migrator, db):
    columns = {"ms": BigIntegerField(null=True), "by": TextField(null=True)}
    migrator.migrate(
        *(
            migrator.add_column("pet", f"{deed}_{name}", column)
            for deed in ("added", "changed")
            for name, column in columns.items()
        )
    )
