"""The refusals that lead to a ban."""

from peewee import BigIntegerField, BooleanField, Model


def up(migrator, db):
    class Table(Model):
        class Meta:
            database = db
            legacy_table_names = False

    class Strike(Table):
        key_id = BigIntegerField(primary_key=True)
        minute = BigIntegerField()
        strikes = BigIntegerField()
        refused_ms = BigIntegerField()
        counts = BooleanField()

    db.create_tables([Strike], safe=False)
