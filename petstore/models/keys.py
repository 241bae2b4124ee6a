"""API keys: issued, rotated, revoked, banned."""

from typing import Self

from peewee import (
    BigAutoField,
    BigIntegerField,
    BlobField,
    Expression,
    ForeignKeyField,
    TextField,
    Value,
)

from petstore import clock
from petstore.database import BaseModel, data
from petstore.events import emit_after_commit
from petstore.models import Refused
from petstore.models.credentials import digest_of, is_prefix, new_key, prefix_of
from petstore.models.projects import Project

MAX_WORKING_KEYS = 100  # of one project
STATUSES = ("working", "ended")


class NoSuchKey(Refused):
    """The project has no key with that prefix."""

    def __init__(self, prefix: str) -> None:
        super().__init__(f"There is no key {prefix}.")


class KeyNotActive(Refused):
    """The key was revoked or rotated before, or has expired."""


class TooManyKeys(Refused):
    """The project has as many keys that work as it may have."""

    def __init__(self) -> None:
        super().__init__(
            f"The project has {MAX_WORKING_KEYS} keys that work, and may not have more"
        )


class Key(BaseModel):
    """A bearer key of a project; only its digest is stored."""

    id = BigAutoField()
    project = ForeignKeyField(Project)
    project_id: int
    prefix = TextField(unique=True)
    digest = BlobField()
    label = TextField(null=True)
    created_ms = BigIntegerField()
    last_used_ms = BigIntegerField(null=True)
    expires_ms = BigIntegerField(null=True)
    retires_ms = BigIntegerField(null=True)  # the end of the grace after a rotation
    revoked_ms = BigIntegerField(null=True)
    banned_until_ms = BigIntegerField(null=True)

    class Meta:
        table_name = "api_key"

    @classmethod
    def issue(cls, project: Project, **columns: str | int | None) -> str:
        """Create a key and return it. Nobody can read it again.

        Raises `TooManyKeys`, also when many keys are issued at the same time.
        """
        with data.atomic():
            data.lock_until_commit(project.id)
            return cls._add(project.id, **columns)

    @classmethod
    def _add(cls, project_id: int, **columns: str | int | None) -> str:
        now = clock.now_ms()
        working = cls.select().where(cls.project == project_id, cls.works_at(now))
        if working.count() >= MAX_WORKING_KEYS:
            raise TooManyKeys
        key = new_key()
        cls.create(
            project=project_id,
            prefix=prefix_of(key),
            digest=digest_of(key),
            created_ms=now,
            **columns,
        )
        emit_after_commit("key_created", key=prefix_of(key))
        return key

    @classmethod
    def works_at(cls, now: int | Value) -> Expression:
        """Return the condition that a key is not revoked, expired or retired."""
        return (
            cls.revoked_ms.is_null()
            & (cls.expires_ms.is_null() | (cls.expires_ms > now))
            & (cls.retires_ms.is_null() | (cls.retires_ms > now))
        )

    @classmethod
    def by_prefix(cls, prefix: str) -> Self | None:
        """Return the key with that prefix, of any project."""
        return cls.get_or_none(cls.prefix == prefix)

    @classmethod
    def find(cls, project_id: int, prefix: str) -> Self:
        """Return one key of the project; raises `NoSuchKey`."""
        key = cls.by_prefix(prefix) if is_prefix(prefix) else None
        if key is None or key.project_id != project_id:
            raise NoSuchKey(prefix)
        return key

    @classmethod
    def all_by_id(cls, project: Project | None) -> list[Self]:
        """Return the keys of a project, or of all projects, oldest first."""
        keys = cls.select(cls, Project).join(Project).order_by(cls.id)
        return list(keys.where(cls.project == project) if project else keys)

    @classmethod
    def page(
        cls, project_id: int, *, after: int, limit: int, status: str
    ) -> list[Self]:
        """Return keys of the project, newest first, after the id `after`.

        The status is one of `STATUSES`; `after` 0 stands for the first page.
        """
        works = cls.works_at(clock.now_ms())
        has_status = works if status == "working" else ~works
        keys = cls.select().where(cls.project == project_id, has_status)
        if after:
            keys = keys.where(cls.id < after)
        return list(keys.order_by(cls.id.desc()).limit(limit))

    @property
    def ends_ms(self) -> int | None:
        """When the key stops working: at its expiry or at the end of its grace."""
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
        """Issue a successor and return it; this key works until the grace ends.

        Raises `KeyNotActive` when the key no longer works or already has a successor,
        and `TooManyKeys`, since both keys work and count during the grace.
        """
        now = clock.now_ms()
        with data.atomic():
            data.lock_until_commit(self.project_id)
            if not self._retire(now, now + grace_seconds * clock.MS_PER_SECOND):
                raise KeyNotActive
            old = Key.get_by_id(self.id)
            emit_after_commit("key_rotated", key=old.prefix)
            return Key._add(
                old.project_id,
                label=old.label,
                expires_ms=old.expires_ms,
                banned_until_ms=old.banned_until_ms,
            )

    def _retire(self, now: int, retires_ms: int) -> bool:
        update = Key.update(retires_ms=retires_ms).where(
            Key.id == self.id, Key.retires_ms.is_null(), Key.works_at(now)
        )
        return bool(update.execute())

    def revoke(self) -> None:
        """End the key on its very next request; a revoked key stays as it is."""
        update = Key.update(revoked_ms=clock.now_ms()).where(
            Key.id == self.id, Key.revoked_ms.is_null()
        )
        if update.execute():
            emit_after_commit("key_revoked", key=self.prefix)

    @classmethod
    def ban(cls, key_id: int, until_ms: int) -> None:
        """Refuse the requests of the key until then, on every worker and host."""
        cls.update(banned_until_ms=until_ms).where(cls.id == key_id).execute()
        prefix = cls.get_by_id(key_id).prefix
        emit_after_commit("key_banned", key=prefix, until_ms=until_ms)

    def unban(self) -> None:
        """End the ban of the key at once."""
        update = Key.update(banned_until_ms=None).where(
            Key.id == self.id, Key.banned_until_ms > clock.now_ms()
        )
        if update.execute():
            emit_after_commit("key_unbanned", key=self.prefix)

    @classmethod
    def mark_used(cls, used_ms: dict[int, int]) -> None:
        """Record when keys were last used, by their ids."""
        with data.atomic():
            for key_id, instant in sorted(used_ms.items()):
                cls.update(last_used_ms=instant).where(cls.id == key_id).execute()
