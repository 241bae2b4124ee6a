"""Sessions of the dashboard."""

from peewee import BigIntegerField, ForeignKeyField, Query, TextField

from petstore import clock, randomness
from petstore.models.callers import Caller, callers
from petstore.models.credentials import digest_of
from petstore.models.keys import Key
from petstore.storage import BaseModel, Sweep, db, slot, statement

LASTS_MS = 12 * 60 * clock.MS_PER_MINUTE
TOKEN_BYTES = 24


class Session(BaseModel):
    """A person who has signed in with a key; only the token's digest is stored."""

    digest = TextField(primary_key=True)
    key = ForeignKeyField(Key, on_delete="CASCADE")
    ends_ms = BigIntegerField(index=True)

    @classmethod
    def begin(cls, caller: Caller) -> str:
        """Begin a session for the caller and return its token."""
        token = randomness.token(TOKEN_BYTES)
        _insert(digest=digest_of(token).hex(), key=caller.key_id, now_ms=clock.now_ms())
        _sweep(now_ms=clock.now_ms())
        return token

    @classmethod
    def end(cls, token: str) -> None:
        """End the session, for every copy of its cookie."""
        cls.delete().where(cls.digest == digest_of(token).hex()).execute()

    @classmethod
    def caller(cls, token: str) -> Caller | None:
        """Return who has signed in, if the session has not ended and its key works."""
        rows = _select_caller(digest=digest_of(token).hex(), now_ms=clock.now_ms())
        return next(map(Caller._make, rows), None)


@statement(db)
def _insert() -> Query:
    return Session.insert(
        digest=slot("digest"),
        key=slot("key"),
        ends_ms=db.now_ms + LASTS_MS,
    ).returning(Session.ends_ms)


@statement(db)
def _select_caller() -> Query:
    return (
        callers()
        .join_from(Key, Session)
        .where(Session.digest == slot("digest"), Session.ends_ms > db.now_ms)
    )


_sweep = Sweep(Session, Session.ends_ms, lambda: Session.ends_ms <= db.now_ms)
