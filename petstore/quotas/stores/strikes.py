"""Refusals in the database that lead to a ban: one row for a key."""

from peewee import EXCLUDED, Case, Query

from petstore.clock import MS_PER_MINUTE
from petstore.database import counters
from petstore.models.usage import Strike
from petstore.quotas.stores.storage import STRIKE_PAUSE_MS
from petstore.quotas.windows import Claim, Tally
from petstore.statements import slot, statement


def strikes_of(claim: Claim, tally: Tally) -> int:
    """How many refusals count towards the key's ban; 0 when this one does not."""
    rows = _strike(
        key=claim.key_id,
        minute=tally.now_ms // MS_PER_MINUTE,
        now_ms=tally.now_ms,
        banned_until=claim.banned_until_ms,
    )
    return next((strikes for strikes, counts in rows if counts), 0)


@statement(counters)
def _strike() -> Query:
    now = EXCLUDED.refused_ms
    counts = (now >= slot("banned_until")) & (
        now - Strike.refused_ms >= STRIKE_PAUSE_MS
    )
    same_minute = Strike.minute == EXCLUDED.minute
    return (
        Strike.insert(
            key_id=slot("key"),
            minute=slot("minute"),
            strikes=0,
            refused_ms=slot("now_ms"),
            counts=False,
        )
        .on_conflict(
            conflict_target=[Strike.key_id],
            update={
                Strike.minute: EXCLUDED.minute,
                Strike.strikes: Case(None, [(same_minute, Strike.strikes)], 0)
                + Case(None, [(counts, 1)], 0),
                Strike.refused_ms: now,
                Strike.counts: counts,
            },
            # One that was overtaken by a later refusal neither counts nor turns
            # the time back.
            where=now >= Strike.refused_ms,
        )
        .returning(Strike.strikes, Strike.counts)
    )
