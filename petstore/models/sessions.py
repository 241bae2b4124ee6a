"""Sessions of the dashboard: each goes on for as long as its row is there."""

import hashlib
import secrets

from peewee import BigIntegerField, ForeignKeyField, Query, TextField

from petstore import clock
from petstore.database import BaseModel, data
from petstore.models.callers import Caller, callers
from petstore.models.keys import Key
from petstore.statements import slot, statement

LASTS_MS = 12 * 60 * clock.MS_PER_MINUTE
TOKEN_BYTES = 24
SWEPT_AT_ONCE = 10


class Session(BaseModel):
    """Somebody who has signed in with a key; only the digest of the token is kept."""

    digest = TextField(primary_key=True)
    key = ForeignKeyField(Key, index=False)
    ends_ms = BigIntegerField(index=True)

    @classmethod
    def begin(cls, caller: Caller) -> str:
        """Sign the caller in; the token that names the session from now on."""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        _begin(digest=digest_of(token), key=caller.key_id, now_ms=clock.now_ms())
        cls._sweep()
        return token

    @classmethod
    def end(cls, token: str) -> None:
        """Sign out: from now on the token names nothing."""
        cls.delete().where(cls.digest == digest_of(token)).execute()

    @classmethod
    def holder(cls, token: str) -> Caller | None:
        """Who has signed in, if the session goes on and its key works."""
        found = _holder(digest=digest_of(token), now_ms=clock.now_ms())
        return Caller.active(found)

    @classmethod
    def _sweep(cls) -> None:
        """Drop a few that have ended; each new one pays for more than one old."""
        # One by one: two who sweep at once would wait for each other's rows.
        for (digest,) in _ended(now_ms=clock.now_ms()):
            cls.delete().where(cls.digest == digest).execute()


def digest_of(token: str) -> str:
    """What is known of a token. It is random, so it cannot be found from this."""
    return hashlib.sha256(token.encode()).hexdigest()


@statement(data)
def _begin() -> Query:
    return Session.insert(
        digest=slot("digest"), key=slot("key"), ends_ms=data.now_ms + LASTS_MS
    ).returning(Session.ends_ms)


@statement(data)
def _holder() -> Query:
    return (
        callers()
        .join_from(Key, Session)
        .where(Session.digest == slot("digest"), Session.ends_ms > data.now_ms)
    )


@statement(data)
def _ended() -> Query:
    return (
        Session.select(Session.digest)
        .where(Session.ends_ms <= data.now_ms)
        .order_by(Session.ends_ms)
        .limit(SWEPT_AT_ONCE)
    )
