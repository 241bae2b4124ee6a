"""Callers: a key that works, and the project that it acts for."""

import hmac
from typing import NamedTuple, Self

from peewee import ModelSelect, Query, fn

from petstore import clock
from petstore.batches import SLOW_SECONDS, Batch
from petstore.database import data, is_sqlite
from petstore.models.credentials import digest_of, prefix_of
from petstore.models.keys import Key
from petstore.models.projects import Project
from petstore.statements import Row, slot, statement


class Caller(NamedTuple):
    """The key of a request and the project that it acts for."""

    key_id: int
    prefix: str
    digest: bytes
    last_used_ms: int | None
    banned_until_ms: int | None
    project_id: int
    slug: str
    plan: str
    per_minute: int | None
    per_day: int | None

    @classmethod
    def of(cls, key: str) -> Self | None:
        """Return the caller whose key this is, if the key works at the moment.

        A mistyped key is refused by its checksum, without a query.
        """
        prefix = prefix_of(key)
        caller = cls.by_prefix(prefix) if prefix else None
        if caller and hmac.compare_digest(bytes(caller.digest), digest_of(key)):
            return caller
        return None

    @classmethod
    def by_prefix(cls, prefix: str) -> Self | None:
        """Return the caller whose key has that prefix, which proves nothing yet."""
        return next(map(cls._make, _look_up(prefix)), None)

    @property
    def is_banned(self) -> bool:
        """Whether the key is banned at the moment."""
        return clock.now_ms() < (self.banned_until_ms or 0)


def callers() -> "ModelSelect[Key]":
    """Return a query for keys that work, in the columns of `Caller`."""
    query = Key.select(
        Key.id,
        Key.prefix,
        Key.digest,
        Key.last_used_ms,
        Key.banned_until_ms,
        Project.id,
        Project.slug,
        Project.plan,
        Project.per_minute,
        Project.per_day,
    )
    return query.join(Project).where(Key.works_at(slot("now_ms")))


def _look_up(prefix: str) -> list[Row]:
    if is_sqlite(data.obj):
        return _select_by_prefix(prefix=prefix, now_ms=clock.now_ms())
    return _batch.run(prefix)


@statement(data)
def _select_by_prefix() -> Query:
    return callers().where(Key.prefix == slot("prefix"))


def _look_up_all(prefixes: list[str]) -> list[list[Row]]:
    found = _select_by_prefixes(prefixes=prefixes, now_ms=clock.now_ms())
    rows = {row[1]: [row] for row in found}
    return [rows.get(prefix, []) for prefix in prefixes]


@statement(data)
def _select_by_prefixes() -> Query:
    return callers().where(Key.prefix == fn.ANY(slot("prefixes")))


# On PostgreSQL, requests that come together share a round trip.
_batch = Batch(_look_up_all, slow_seconds=SLOW_SECONDS)
