"""Requests counted by subject and day, when the database keeps the counters."""

from peewee import BigIntegerField, BooleanField, CompositeKey, TextField

from petstore.database import CounterModel


class Usage(CounterModel):
    """What one subject used on one UTC day, and in the latest minute of it."""

    subject = TextField()
    day = BigIntegerField()  # days since 1970-01-01
    served = BigIntegerField()
    refused = BigIntegerField()
    minute = BigIntegerField()  # minutes since 1970-01-01 00:00
    minute_served = BigIntegerField()
    hit_ms = BigIntegerField()
    is_granted = BooleanField()  # whether the latest hit was served
    last_day = BigIntegerField(index=True)  # after which the row is of no use

    class Meta:
        primary_key = CompositeKey("subject", "day")

    @classmethod
    def of_days(cls, subject: str, days: range) -> list[tuple[int, int, int]]:
        """Day, served and refused, for those of the days that have a row."""
        rows = cls.select(cls.day, cls.served, cls.refused).where(
            cls.subject == subject, cls.day.between(days[0], days[-1])
        )
        return list(rows.tuples())


class Strike(CounterModel):
    """The refusals of a key that count towards its ban, in one minute."""

    key_id = BigIntegerField(primary_key=True)
    minute = BigIntegerField()
    strikes = BigIntegerField()
    refused_ms = BigIntegerField()
    counts = BooleanField()  # whether the latest refusal is among the strikes
