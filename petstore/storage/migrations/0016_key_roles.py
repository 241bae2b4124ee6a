"""What a key may do, how much of it, and from which pages."""

from peewee import BigIntegerField, TextField

COLUMNS = {
    "per_minute": BigIntegerField,
    "per_day": BigIntegerField,
    "origins": TextField,
}


def up(migrator, db):
    # The version before, which still runs beside this one, issues keys without a role.
    db.execute_sql("ALTER TABLE api_key ADD COLUMN role TEXT NOT NULL DEFAULT 'full'")
    for name, field in COLUMNS.items():
        migrator.migrate(migrator.add_column("api_key", name, field(null=True)))
