"""A row for each subject, with both of its windows; counts begin anew."""

from peewee import BigIntegerField, BooleanField, Model, TextField


def up(migrator, db):
    class Counter(Model):
        subject = TextField(primary_key=True)
        short_ends_ms = BigIntegerField()
        short_used = BigIntegerField()
        long_ends_ms = BigIntegerField(index=True)
        long_used = BigIntegerField()
        hit_ms = BigIntegerField()
        is_granted = BooleanField()

        class Meta:
            database = db
            legacy_table_names = False

    db.create_tables([Counter], safe=False)
