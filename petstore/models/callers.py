"""Callers: a key that works, and the project that it acts for."""

import hmac
from typing import NamedTuple, Self

from peewee import ModelSelect, Query

from petstore import clock
from petstore.models.credentials import digest_of, prefix_of
from petstore.models.keys import Key
from petstore.models.plans import Quota, quota_of
from petstore.models.projects import Project
from petstore.storage import compiled, db, placeholder


class Caller(NamedTuple):
    """The key of a request and the project that it acts for."""

    key_id: int
    prefix: str
    digest: bytes
    banned_until_ms: int | None
    role: str
    key_per_minute: int | None
    key_per_day: int | None
    origins: str | None  # separated by spaces
    project_id: int
    slug: str
    plan: str
    per_minute: int | None
    per_day: int | None
    suspended_ms: int | None  # since when nothing of its project is served

    @classmethod
    def find_by_key(cls, key: str) -> Self | None:
        """Return the caller whose key this is, if the key works at the moment.

        A mistyped key is refused by its checksum, without a query.
        """
        prefix, digest = prefix_of(key), digest_of(key)
        caller = cls.find_by_prefix(prefix) if prefix else None
        if caller and hmac.compare_digest(bytes(caller.digest), digest):
            return caller
        return None

    @classmethod
    def find_by_prefix(cls, prefix: str) -> Self | None:
        """Return the caller whose key has that prefix; the rest is not checked."""
        rows = select_by_prefix(prefix=prefix)
        return next(map(cls._make, rows), None)

    @property
    def quota(self) -> Quota:
        return quota_of(self.plan, self.per_minute, self.per_day)

    @property
    def key_quota(self) -> Quota:
        """The limits of the key, which are never above those of its project."""
        most = self.quota
        return Quota.of(
            min(self.key_per_minute or most.per_minute, most.per_minute),
            min(self.key_per_day or most.per_day, most.per_day),
        )

    @property
    def is_banned(self) -> bool:
        return clock.now_ms() < (self.banned_until_ms or 0)


def callers() -> "ModelSelect[Key]":
    """Return a query for keys that work, in the order of `Caller`."""
    query = Key.select(
        *(Key.id, Key.prefix, Key.digest, Key.banned_until_ms, Key.role),
        *(Key.per_minute, Key.per_day, Key.origins, Project.id, Project.slug),
        *(Project.plan, Project.per_minute, Project.per_day, Project.suspended_ms),
    )
    works = Key.works_at(db.now_ms) & Project.deleted_ms.is_null()
    return query.join(Project).where(works)


@compiled(db, is_function=True)
def select_by_prefix() -> Query:
    return callers().where(Key.prefix == placeholder("prefix"))
