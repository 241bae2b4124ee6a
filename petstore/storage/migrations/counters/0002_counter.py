"""A row for each subject, with both of its windows, and one for each key's refusals."""

from peewee import BigIntegerField, BooleanField, Model, TextField


def up(migrator, db):
    class Table(Model):
        class Meta:
            database = db
            legacy_table_names = False

    class Counter(Table):
        subject = TextField(primary_key=True)
        short_ends_ms = BigIntegerField()
        short_used = BigIntegerField()
        long_ends_ms = BigIntegerField(index=True)
        long_used = BigIntegerField()
        hit_ms = BigIntegerField()
        is_granted = BooleanField()

    class Strike(Table):
        key_id = BigIntegerField(primary_key=True)
        minute = BigIntegerField(index=True)
        strikes = BigIntegerField()
        refused_ms = BigIntegerField()
        counts = BooleanField()

    db.create_tables([Counter, Strike])  # a database of release 1.1.0 had strikes
