"""Answers of requests that carried an Idempotency-Key, kept for their retries."""

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
from petstore.models.projects import Project
from petstore.statements import slot, statement

KEPT_MS = clock.MS_PER_DAY
SWEPT_AT_ONCE = 10
# How long a copy waits for the first request of its key.
FIRST_MS = 700


class StillRunning(Exception):
    """The first request of the key has not ended within the time to wait for it."""


class Attempt(NamedTuple):
    """A request that may be sent again: its place, its key, and what it asks."""

    project: int
    path: str
    key: str
    fingerprint: bytes


class Reply(BaseModel):
    """The answer to an attempt; empty for as long as its transaction runs."""

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
        """Whether the attempt is the first of its key, or the first after a day.

        To be called in the transaction of the write: a copy that comes meanwhile
        waits here for its end, and the claim of one that is killed goes with it.
        Raises `StillRunning`.
        """
        try:
            return bool(_claim(**attempt._asdict(), now_ms=clock.now_ms()))
        except peewee.OperationalError as error:
            if data.is_locked(error):
                raise StillRunning from None
            raise

    @classmethod
    def of(cls, attempt: Attempt) -> Self:
        """The answer that the key was given before."""
        return cls.get_by_id((attempt.project, attempt.path, attempt.key))

    @classmethod
    def keep(
        cls, attempt: Attempt, status: int, location: str | None, body: bytes
    ) -> None:
        """Store the answer, to be committed together with what it acknowledges."""
        cls.update(status=status, location=location, body=body).where(
            cls.project == attempt.project,
            cls.path == attempt.path,
            cls.key == attempt.key,
        ).execute()

    @classmethod
    def sweep(cls) -> None:
        """Drop a few outdated answers; each new one pays for more than one old."""
        for project, path, key in _outdated(now_ms=clock.now_ms()):
            _drop(project=project, path=path, key=key, now_ms=clock.now_ms())


def _is_outdated() -> Expression:
    # By the clock of the database, which is one for all hosts.
    return Reply.created_ms < data.now_ms - KEPT_MS


@statement(data)
def _claim() -> Query:
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
def _outdated() -> Query:
    return (
        Reply.select(Reply.project, Reply.path, Reply.key)
        .where(_is_outdated())
        .order_by(Reply.created_ms)
        .limit(SWEPT_AT_ONCE)
    )


@statement(data)
def _drop() -> Query:
    return (
        Reply.delete()
        .where(
            Reply.project == slot("project"),
            Reply.path == slot("path"),
            Reply.key == slot("key"),
            # A new attempt may have taken the place of the old one meanwhile.
            _is_outdated(),
        )
        .returning(Reply.key)
    )
