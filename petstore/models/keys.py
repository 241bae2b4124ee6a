"""API keys: issued, rotated, revoked, banned."""

from typing import Self

from peewee import BigAutoField, BigIntegerField, BlobField, ForeignKeyField, TextField

from petstore import clock
from petstore.database import BaseModel, data
from petstore.events import emit
from petstore.models.credentials import digest_of, new_key, prefix_of
from petstore.models.projects import Project


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
    def find(cls, project_id: int, prefix: str) -> Self | None:
        """The key of that prefix, if it is the project's."""
        return cls.get_or_none(cls.project == project_id, cls.prefix == prefix)

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

    @property
    def state(self) -> str:
        """One word: active, retiring, banned, expired, retired or revoked."""
        now = clock.now_ms()
        if self.revoked_ms is not None:
            return "revoked"
        if self.ends_ms is not None and self.ends_ms <= now:
            return "retired" if self.ends_ms == self.retires_ms else "expired"
        if now < (self.banned_until_ms or 0):
            return "banned"
        return "active" if self.retires_ms is None else "retiring"

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
