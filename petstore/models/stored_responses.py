"""Responses to requests with an Idempotency-Key, kept for their retries."""

from contextlib import AbstractContextManager
from hashlib import blake2b
from typing import Any, NamedTuple

import peewee
from peewee import Expression, Query

from petstore import clock
from petstore.models import Retention, RuleError, retentions
from petstore.models.projects import Project
from petstore.storage import BaseModel, Row, compiled, db, placeholder

KEPT_MS = clock.MS_PER_DAY


class StillRunning(RuleError):
    """The first request with the key has not ended in time."""

    code = "idempotency_key_in_use"


class Attempt(NamedTuple):
    """A request that may be retried: its project, path and key, and its body's hash."""

    project: int
    path: str
    key: str
    fingerprint: bytes

    @property
    def lock_id(self) -> int:
        """A number that attempts with the same key share, and in practice no others."""
        name = f"{self.project} {self.path} {self.key}".encode()
        return int.from_bytes(blake2b(name, digest_size=8).digest(), signed=True)


class StoredResponse(BaseModel):
    methods = ("POST", "PATCH")  # of requests that may have an Idempotency-Key

    project = peewee.ForeignKeyField(Project, index=False)
    path = peewee.TextField()
    key = peewee.TextField()
    fingerprint = peewee.BlobField()
    created_ms = peewee.BigIntegerField(index=True)
    status = peewee.BigIntegerField(null=True)
    location = peewee.TextField(null=True)
    body = peewee.BlobField(null=True)

    class Meta:
        table_name = "reply"
        hidden = {"project", "path", "key", "created_ms"}
        primary_key = peewee.CompositeKey("project", "path", "key")

    @staticmethod
    def atomic(attempt: Attempt) -> AbstractContextManager[Any]:
        """Return the transaction of the write, which begins with a lock of the key.

        There a retry waits until the first one ends, or its process dies. Raises
        `NumberLocked` where it is known that the first one runs.
        """
        return db.atomic(lock_id=attempt.lock_id)

    @staticmethod
    def find(attempt: Attempt) -> Row | None:
        """Return the response to an attempt with the same key in the last 24 hours."""
        return next(iter(_select(**attempt._asdict())), None)

    @staticmethod
    def keep(attempt: Attempt, status: int, location: str | None, body: bytes) -> None:
        """Store the response, in the transaction of the write that it acknowledges."""
        response = {"status": status, "location": location, "body": body}
        _insert(**attempt._asdict(), **response)


_KEY = (StoredResponse.project, StoredResponse.path, StoredResponse.key)


retentions += [Retention(StoredResponse, StoredResponse.created_ms, KEPT_MS)]


def _is_outdated() -> Expression:
    # The clock of the database is the same for all hosts.
    return StoredResponse.created_ms < db.now_ms - KEPT_MS


@compiled(db)
def _select() -> Query:
    found = StoredResponse.select(*StoredResponse.columns())
    return found.where(*(each == placeholder(each) for each in _KEY), ~_is_outdated())


@compiled(db)
def _insert() -> Query:
    response, created_ms = StoredResponse.columns(), StoredResponse.created_ms
    values = {column: placeholder(column) for column in (*_KEY, *response)}
    # An outdated response with the same key may still be there.
    return StoredResponse.insert(values | {created_ms: db.now_ms}).on_conflict(
        conflict_target=_KEY,
        preserve=(created_ms, *response),
        where=_is_outdated(),
    )
