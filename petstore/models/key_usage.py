"""How many requests of each key were served and refused on each day."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import peewee
from peewee import Case, Cast, chunked, fn

from petstore import clock
from petstore.models import Retention, retentions
from petstore.models.keys import Key
from petstore.storage import BaseModel

SHOWN_DAYS = 30
KEYS_AT_ONCE = 500


class KeyUsage(BaseModel):
    key = peewee.ForeignKeyField(Key, index=False, on_delete="CASCADE")
    day = peewee.BigIntegerField(index=True)  # since 1970-01-01
    served = peewee.BigIntegerField()
    refused = peewee.BigIntegerField()

    class Meta:
        primary_key = peewee.CompositeKey("key", "day")


retentions += [Retention(KeyUsage, KeyUsage.day, SHOWN_DAYS - 1, clock.MS_PER_DAY)]


class Totals(NamedTuple):
    """The requests of a key that were served and refused, today and in 30 days."""

    served_today: int = 0
    refused_today: int = 0
    served: int = 0
    refused: int = 0


def totals_of(keys: Iterable[Key]) -> dict[int, Totals]:
    today = clock.now_ms() // clock.MS_PER_DAY
    counts = (KeyUsage.served, KeyUsage.refused)
    of_today = [Case(None, [(KeyUsage.day == today, each)], 0) for each in counts]
    sums = [Cast(fn.SUM(each), "bigint") for each in (*of_today, *counts)]
    found = {key.id: Totals() for key in keys}
    for some in chunked(list(found), KEYS_AT_ONCE):
        is_shown = KeyUsage.key.in_(some) & (KeyUsage.day > today - SHOWN_DAYS)
        rows = KeyUsage.select(KeyUsage.key, *sums).where(is_shown)
        figures: Any = rows.group_by(KeyUsage.key).tuples()
        found |= {key_id: Totals(*counts) for key_id, *counts in figures}
    return found
