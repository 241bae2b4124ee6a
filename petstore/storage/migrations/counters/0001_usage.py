"""Requests by subject and day, and the refusals that lead to a ban."""

from peewee import BigIntegerField, BooleanField, CompositeKey, Model, TextField


def up(migrator, db):
    class Table(Model):
        class Meta:
            database = db
            legacy_table_names = False

    class Usage(Table):
        subject = TextField()
        day = BigIntegerField()
        served = BigIntegerField()
        refused = BigIntegerField()
        minute = BigIntegerField()
        minute_served = BigIntegerField()
        hit_ms = BigIntegerField()
        is_granted = BooleanField()
        last_day = BigIntegerField(index=True)

        class Meta:
            primary_key = CompositeKey("subject", "day")

    class Strike(Table):
        key_id = BigIntegerField(primary_key=True)
        minute = BigIntegerField()
        strikes = BigIntegerField()
        refused_ms = BigIntegerField()
        counts = BooleanField()

    db.create_tables([Usage, Strike], safe=False)
