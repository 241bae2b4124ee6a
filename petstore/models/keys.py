"""API keys: issued, found, rotated, revoked, banned."""

import hmac
from typing import NamedTuple, Self

from peewee import (
    BigAutoField,
    BigIntegerField,
    BlobField,
    ForeignKeyField,
    Query,
    TextField,
)

from petstore import clock
from petstore.database import BaseModel, data
from petstore.events import emit
from petstore.models.credentials import digest_of, new_key, prefix_of
from petstore.models.projects import Project
from petstore.statements import slot, statement


class KeyNotActive(Exception):
    """The key was revoked or rotated before, or has expired."""


class Key(BaseModel):
    """A bearer key of a project; only its digest is kept."""

    id = BigAutoField()
    project = ForeignKeyField(Project)
    prefix = TextField(unique=True)
    digest = BlobField()
    label = TextField(null=True)
    created_ms = BigIntegerField()
    last_used_ms = BigIntegerField(null=True)
    expires_ms = BigIntegerField(null=True)
    retires_ms = BigIntegerField(null=True)
    revoked_ms = BigIntegerField(null=True)
    banned_until_ms = BigIntegerField(null=True)

    class Meta:
        table_name = "api_key"

    @classmethod
    def issue(cls, project: Project, **inherited: str | int | None) -> str:
        """Create a key; its text is returned here and can never be read again."""
        key = new_key()
        cls.create(
            project=project,
            prefix=prefix_of(key),
            digest=digest_of(key),
            created_ms=clock.now_ms(),
            **inherited,
        )
        emit("key_created", key=prefix_of(key))
        return key

    @classmethod
    def by_prefix(cls, prefix: str) -> Self | None:
        """The key of that prefix."""
        return cls.get_or_none(cls.prefix == prefix)

    @classmethod
    def listed(cls, project: Project | None) -> list[Self]:
        """The keys of a project, or of all, oldest first."""
        keys = cls.select(cls, Project).join(Project).order_by(cls.id)
        return list(keys.where(cls.project == project) if project else keys)

    @property
    def ends_ms(self) -> int | None:
        """When the key stops by itself: its own expiry or the end of its grace."""
        ends = [end for end in (self.expires_ms, self.retires_ms) if end is not None]
        return min(ends, default=None)

    def rotate(self, grace_seconds: int) -> str:
        """Issue the successor; this key works until the grace ends.

        Raises `KeyNotActive` when the key no longer works or has a successor already.
        """
        now = clock.now_ms()
        retire = Key.update(retires_ms=now + grace_seconds * clock.MS_PER_SECOND).where(
            Key.id == self.id,
            Key.revoked_ms.is_null(),
            Key.retires_ms.is_null(),
            Key.expires_ms.is_null() | (Key.expires_ms > now),
        )
        with data.atomic():
            if not retire.execute():
                raise KeyNotActive
            old = Key.get_by_id(self.id)
            emit("key_rotated", key=old.prefix)
            return Key.issue(
                old.project_id,
                label=old.label,
                expires_ms=old.expires_ms,
                banned_until_ms=old.banned_until_ms,
            )

    def revoke(self) -> None:
        """End the key on its very next request; a revoked one stays as it is."""
        Key.update(revoked_ms=clock.now_ms()).where(
            Key.id == self.id, Key.revoked_ms.is_null()
        ).execute()
        emit("key_revoked", key=self.prefix)

    @classmethod
    def ban(cls, key_id: int, until_ms: int) -> None:
        """Refuse the key's requests, on every worker and host, until then."""
        cls.update(banned_until_ms=until_ms).where(cls.id == key_id).execute()
        emit("key_banned", key=cls.get_by_id(key_id).prefix, until_ms=until_ms)

    def unban(self) -> None:
        """Let a banned key in again at once."""
        Key.update(banned_until_ms=None).where(Key.id == self.id).execute()
        emit("key_unbanned", key=self.prefix)

    @classmethod
    def mark_used(cls, used_ms: dict[int, int]) -> None:
        """Note when keys, by id, were last used."""
        with data.atomic():
            for key_id, instant in sorted(used_ms.items()):
                cls.update(last_used_ms=instant).where(cls.id == key_id).execute()


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
        if prefix is None:
            return None
        for row in _caller(prefix=prefix):
            caller = cls(*row)
            is_right = hmac.compare_digest(bytes(caller.digest), digest_of(key))
            if is_right and caller.is_active(clock.now_ms()):
                return caller
        return None

    def is_active(self, now: int) -> bool:
        """Whether the key is neither revoked nor expired nor past its grace."""
        return (
            self.revoked_ms is None
            and (self.expires_ms is None or now < self.expires_ms)
            and (self.retires_ms is None or now < self.retires_ms)
        )


@statement(data)
def _caller() -> Query:
    return (
        Key.select(
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
        )
        .join(Project)
        .where(Key.prefix == slot("prefix"))
    )
