"""Responses to requests with an Idempotency-Key, kept for their retries."""

from typing import NamedTuple, Self

import peewee
from peewee import (
    EXCLUDED,
    BigIntegerField,
    BlobField,
    CompositeKey,
    Expression,
    ForeignKeyField,
    Query,
    TextField,
)

from petstore import clock
from petstore.database import BaseModel, data
from petstore.models import Refused
from petstore.models.projects import Project
from petstore.statements import slot, statement

KEPT_MS = clock.MS_PER_DAY
SWEPT_AT_ONCE = 10
# How long a retry waits for the first request with its key.
WAIT_MS = 700


class StillRunning(Refused):
    """The first request with the key has not ended in time."""

    def __init__(self) -> None:
        super().__init__(
            "The first request with this Idempotency-Key is still running."
        )


class Attempt(NamedTuple):
    """A request that may be retried: its project, path and key, and its body's hash."""

    project: int
    path: str
    key: str
    fingerprint: bytes


class Reply(BaseModel):
    """The response to an attempt; empty while the transaction of the attempt runs."""

    project = ForeignKeyField(Project, index=False)
    path = TextField()
    key = TextField()
    fingerprint = BlobField()
    created_ms = BigIntegerField(index=True)
    status = BigIntegerField(null=True)
    location = TextField(null=True)
    body = BlobField(null=True)

    class Meta:
        primary_key = CompositeKey("project", "path", "key")

    @classmethod
    def claim(cls, attempt: Attempt) -> bool:
        """Return whether the attempt is the first with its key in 24 hours.

        Call it in the transaction of the write. A retry then waits here until that
        transaction ends, and a killed process leaves no claim. Raises `StillRunning`.
        """
        try:
            return bool(_insert(**attempt._asdict(), now_ms=clock.now_ms()))
        except peewee.OperationalError as error:
            if data.is_locked(error):
                raise StillRunning from None
            raise

    @classmethod
    def of(cls, attempt: Attempt) -> Self:
        """Return the stored response to an earlier attempt with the same key."""
        return cls.get_by_id((attempt.project, attempt.path, attempt.key))

    @classmethod
    def keep(
        cls, attempt: Attempt, status: int, location: str | None, body: bytes
    ) -> None:
        """Store the response, in the transaction of the write that it acknowledges."""
        cls.update(status=status, location=location, body=body).where(
            cls.project == attempt.project,
            cls.path == attempt.path,
            cls.key == attempt.key,
        ).execute()

    @classmethod
    def sweep(cls) -> None:
        """Delete a few outdated responses; each new one pays for several old ones."""
        for project, path, key in _select_outdated(now_ms=clock.now_ms()):
            _delete(project=project, path=path, key=key, now_ms=clock.now_ms())


def _is_outdated() -> Expression:
    # The clock of the database is the same for all hosts.
    return Reply.created_ms < data.now_ms - KEPT_MS


@statement(data)
def _insert() -> Query:
    return (
        Reply.insert(
            project=slot("project"),
            path=slot("path"),
            key=slot("key"),
            fingerprint=slot("fingerprint"),
            created_ms=data.now_ms,
        )
        .on_conflict(
            conflict_target=[Reply.project, Reply.path, Reply.key],
            update={
                Reply.fingerprint: EXCLUDED.fingerprint,
                Reply.created_ms: EXCLUDED.created_ms,
            },
            where=_is_outdated(),
        )
        .returning(Reply.key)
    )


@statement(data)
def _select_outdated() -> Query:
    return (
        Reply.select(Reply.project, Reply.path, Reply.key)
        .where(_is_outdated())
        .order_by(Reply.created_ms)
        .limit(SWEPT_AT_ONCE)
    )


@statement(data)
def _delete() -> Query:
    return (
        Reply.delete()
        .where(
            Reply.project == slot("project"),
            Reply.path == slot("path"),
            Reply.key == slot("key"),
            # A new attempt may have replaced the old one meanwhile.
            _is_outdated(),
        )
        .returning(Reply.key)
    )
