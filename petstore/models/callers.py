"""Who calls: a key that works, and the project that it acts for."""

import hmac
from collections.abc import Iterable
from typing import NamedTuple, Self

from peewee import Query, fn

from petstore import clock
from petstore.batches import Batch
from petstore.database import data, is_sqlite
from petstore.models.credentials import digest_of, prefix_of
from petstore.models.keys import Key
from petstore.models.projects import Project
from petstore.statements import slot, statement


class Caller(NamedTuple):
    """The key of a request and the project that it acts for."""

    key_id: int
    prefix: str
    digest: bytes
    last_used_ms: int | None
    expires_ms: int | None
    retires_ms: int | None
    revoked_ms: int | None
    banned_until_ms: int | None
    project_id: int
    slug: str
    plan: str
    per_minute: int | None
    per_day: int | None

    @classmethod
    def of(cls, key: str) -> Self | None:
        """Whom a key speaks for; a mistyped one is refused without a look-up."""
        prefix = prefix_of(key)
        caller = cls.named(prefix) if prefix else None
        if caller and hmac.compare_digest(bytes(caller.digest), digest_of(key)):
            return caller
        return None

    @classmethod
    def named(cls, prefix: str) -> Self | None:
        """Whom the key of that prefix speaks for, if it works at this moment.

        The prefix proves nothing: this is for who has shown the whole key before.
        """
        return cls.active(_look_up(prefix))

    @classmethod
    def active(cls, rows: Iterable[tuple]) -> Self | None:
        """The caller whom the first row describes, if the key works at this moment."""
        for row in rows:
            caller = cls(*row)
            if caller.is_active(clock.now_ms()):
                return caller
        return None

    @property
    def is_banned(self) -> bool:
        """Whether a ban of the key holds at this moment."""
        return clock.now_ms() < (self.banned_until_ms or 0)

    def is_active(self, now: int) -> bool:
        """Whether the key is neither revoked nor expired nor past its grace."""
        return (
            self.revoked_ms is None
            and (self.expires_ms is None or now < self.expires_ms)
            and (self.retires_ms is None or now < self.retires_ms)
        )


def callers() -> Query:
    """The keys with their projects, in the columns of a `Caller`."""
    return Key.select(
        Key.id,
        Key.prefix,
        Key.digest,
        Key.last_used_ms,
        Key.expires_ms,
        Key.retires_ms,
        Key.revoked_ms,
        Key.banned_until_ms,
        Project.id,
        Project.slug,
        Project.plan,
        Project.per_minute,
        Project.per_day,
    ).join(Project)


def _look_up(prefix: str) -> list[tuple]:
    if is_sqlite(data.obj):
        return _caller(prefix=prefix)
    return _batch.run(prefix)


def _look_up_all(prefixes: list[str]) -> list[list[tuple]]:
    found = {row[1]: [row] for row in _callers(prefixes=prefixes)}
    return [found.get(prefix, []) for prefix in prefixes]


_batch = Batch(_look_up_all, slow_seconds=0.01)


@statement(data)
def _caller() -> Query:
    return callers().where(Key.prefix == slot("prefix"))


@statement(data)
def _callers() -> Query:
    return callers().where(Key.prefix == fn.ANY(slot("prefixes")))
