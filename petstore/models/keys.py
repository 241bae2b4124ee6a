"""API keys: issued, rotated, revoked, banned.

The storages of `quotas` count the refusals that lead to a ban, `limiter.py` there bans.
"""

from typing import Any, Self

import peewee
from peewee import SQL, Case, Expression, Function, Query, fn

from petstore import clock, timeouts
from petstore.models import Retention, RuleError, WriteQueue, retentions
from petstore.models.activity import emit_after_commit
from petstore.models.credentials import digest_of, new_key, prefix_of
from petstore.models.grants import FULL, FULL_GRANT, Grant
from petstore.models.projects import Project
from petstore.storage import BaseModel, compiled, db, placeholder

MAX_WORKING_KEYS = 100  # of one project
MAX_ENDED_KEYS = 100  # that are kept of one project
KEEP_ENDED_MS = 30 * clock.MS_PER_DAY
# The last use of a key is written at most once in this time.
USE_STEP_MS = 10 * clock.MS_PER_MINUTE
DELETED_AT_ONCE = 20
# The columns that a key passes on to its successor.
INHERITED = ("label", *FULL_GRANT.columns, "expires_ms", "banned_until_ms")


class KeyNotActive(RuleError):
    text = "The key {} is revoked, expired or rotated already."


class TooManyKeys(RuleError):
    text = (
        "The project has {} keys that work, which is the limit. Revoke one first, or "
        "rotate one without a grace."
    )


class Key(BaseModel):
    """A bearer key of a project; only its digest is stored."""

    id = peewee.BigAutoField()
    project = peewee.ForeignKeyField(Project, index=False)
    project_id: int
    prefix = peewee.TextField(unique=True)
    digest = peewee.BlobField()
    label = peewee.TextField(null=True)
    created_ms = peewee.BigIntegerField()
    last_used_ms = peewee.BigIntegerField(null=True)
    expires_ms = peewee.BigIntegerField(null=True)
    # The end of the grace after a rotation.
    retires_ms = peewee.BigIntegerField(null=True)
    revoked_ms = peewee.BigIntegerField(null=True)
    banned_until_ms = peewee.BigIntegerField(null=True)
    # The columns of its `Grant`.
    role = peewee.TextField(default=FULL, constraints=[SQL(f"DEFAULT '{FULL}'")])
    per_minute = peewee.BigIntegerField(null=True)
    per_day = peewee.BigIntegerField(null=True)
    origins = peewee.TextField(null=True)  # separated by spaces
    ends_ms: int | None  # selected along with the columns: see `_ends_by_itself`

    class Meta:
        table_name = "api_key"

    @classmethod
    def issue(
        cls, project: Project, grant: Grant = FULL_GRANT, **columns: str | int | None
    ) -> str:
        """Return a new key, once; raises `RuleError`."""
        grant.require_within(project.quota)
        columns |= grant.columns
        with db.atomic():
            db.lock_until_commit(project.id)
            return cls._add(project.id, **columns)

    @classmethod
    def _add(cls, project_id: int, **columns: str | int | None) -> str:
        now, key = clock.now_ms(), new_key()
        if cls.working(project_id, now).count() >= MAX_WORKING_KEYS:
            raise TooManyKeys(MAX_WORKING_KEYS)
        cls._delete_ended(project_id, now)
        created = cls.create(
            project=project_id,
            prefix=str(prefix_of(key)),
            digest=digest_of(key),
            created_ms=now,
            **columns,
        )
        created._emit("key_created", label=created.label)
        return key

    @classmethod
    def works_at(cls, now: int | peewee.ColumnBase) -> Expression:
        """Return the condition that a key is not revoked, expired or retired."""
        # `revoked_ms` is not compared, since the clock of another host may be ahead.
        return cls.revoked_ms.is_null() & (cls.ends() > now)

    @classmethod
    def ends(cls) -> Function:
        """Return when a key ends, as the indexes have it."""
        forever = SQL("9223372036854775807")
        return fn.COALESCE(cls.revoked_ms, cls._ends_by_itself(), forever)

    @classmethod
    def _ends_by_itself(cls) -> Case:
        """Return when a key expires or its grace ends, whichever is first; or null."""
        retires_first = cls.retires_ms < cls.expires_ms
        the_other = fn.COALESCE(cls.expires_ms, cls.retires_ms)
        return Case(None, [(retires_first, cls.retires_ms)], the_other)

    @classmethod
    def with_ends(cls) -> "peewee.ModelSelect[Self]":
        """Return a query for keys with `ends_ms` and projects that are not deleted."""
        ends_ms = cls._ends_by_itself().alias("ends_ms")
        keys = cls.select(cls, Project, ends_ms).join(Project)
        return keys.where(Project.deleted_ms.is_null())

    @classmethod
    def working(
        cls, project_id: int | peewee.ColumnBase, now: int | peewee.ColumnBase
    ) -> "peewee.ModelSelect[Self]":
        """Return a query for the ids of keys that work; the last to end is first."""
        return (
            cls.select(cls.id)
            .where(cls.project == project_id, cls.works_at(now))
            .order_by(cls.ends().desc())
            .limit(MAX_WORKING_KEYS)  # so that SQLite reads them from the index
        )

    @classmethod
    def ended(cls, project_id: int, now: int) -> "peewee.ModelSelect[Self]":
        """Return a query for the ids of ended keys that are kept."""
        ends = cls.ends()
        return (
            cls.select(cls.id)
            .where(cls.project == project_id, ends <= now, ends > now - KEEP_ENDED_MS)
            .order_by(ends.desc(), cls.id.desc())
            .limit(MAX_ENDED_KEYS)
        )

    @classmethod
    def _delete_ended(cls, project_id: int, now: int) -> None:
        """Delete a few of the ended keys that are not kept, with their sessions."""
        is_surplus = cls.id.not_in(cls.ended(project_id, now))
        few = (
            cls.select(cls.id)
            .where(cls.project == project_id, cls.ends() <= now, is_surplus)
            .order_by(cls.ends())
            .limit(DELETED_AT_ONCE)
        )
        cls.delete().where(db.is_among([cls.id], db.skip_locked(few))).execute()

    @classmethod
    def find_by_prefix(cls, prefix: str) -> Self | None:
        """Return the key with that prefix, unless its project is being deleted."""
        return cls.with_ends().where(cls.prefix == prefix).get_or_none()

    @classmethod
    def all_by_id(cls, project: Project | None) -> list[Self]:
        is_kept = cls.ends() > clock.now_ms() - KEEP_ENDED_MS
        keys = cls.with_ends().where(is_kept).order_by(cls.id)
        return list(keys.where(cls.project == project) if project else keys)

    @property
    def state(self) -> str:
        """One word: active, retiring, banned, expired, retired or revoked."""
        now = clock.now_ms()
        if self.revoked_ms is not None:
            # A rotation without a grace sets `revoked_ms`, too.
            return "retired" if self.revoked_ms == self.retires_ms else "revoked"
        if self.ends_ms is not None and self.ends_ms <= now:
            return "retired" if self.ends_ms == self.retires_ms else "expired"
        if self.is_banned:
            return "banned"
        return "active" if self.retires_ms is None else "retiring"

    @property
    def is_banned(self) -> bool:
        return clock.now_ms() < (self.banned_until_ms or 0)

    def rotate(self, grace_seconds: int) -> str:
        """Issue a successor and return it; this key works until the grace ends.

        Raises `KeyNotActive` when the key no longer works or already has a successor,
        and `TooManyKeys`, since both keys work and count during the grace.
        """
        now = clock.now_ms()
        with db.atomic():
            db.lock_until_commit(self.project_id)
            retires_ms = now + grace_seconds * clock.MS_PER_SECOND
            # Without a grace, the key also ends on hosts whose clock is behind.
            revoked_ms = None if grace_seconds else now
            retired = Key.update(retires_ms=retires_ms, revoked_ms=revoked_ms)
            is_active = Key.retires_ms.is_null() & Key.works_at(now)
            if not retired.where(Key.id == self.id, is_active).execute():
                raise KeyNotActive(self.prefix)
            old = Key.get_by_id(self.id)
            old._emit("key_rotated")
            inherited = {name: getattr(old, name) for name in INHERITED}
            return Key._add(old.project_id, **inherited)

    def revoke(self) -> None:
        """End the key on its next request."""
        update = Key.update(revoked_ms=clock.now_ms()).where(
            Key.id == self.id, Key.revoked_ms.is_null()
        )
        with db.atomic():
            if update.execute():
                self._emit("key_revoked")

    @classmethod
    def ban(cls, key_id: int, until_ms: int) -> None:
        key = cls.get_by_id(key_id)
        with db.atomic():
            cls.update(banned_until_ms=until_ms).where(cls.id == key_id).execute()
            key._emit("key_banned", by=key.prefix, until_ms=until_ms)

    def unban(self) -> None:
        update = Key.update(banned_until_ms=None).where(
            Key.id == self.id, Key.banned_until_ms > clock.now_ms()
        )
        with db.atomic():
            if update.execute():
                self._emit("key_unbanned")

    def _emit(self, event: str, *, by: str | None = None, **facts: Any) -> None:
        slug = self.project.slug
        emit_after_commit(event, by=by, project=slug, key=self.prefix, **facts)


Key.add_index(Key.project, Key.ends(), Key.id, name="api_key_ends")
Key.add_index(Key.ends(), name="api_key_ended")
retentions += [Retention(Key, Key.ends(), KEEP_ENDED_MS)]


@compiled(db)
def mark_used() -> Query:
    is_due = Key.last_used_ms.is_null() | (
        Key.last_used_ms + USE_STEP_MS <= placeholder("used_ms")
    )
    marked = Key.update(last_used_ms=placeholder("used_ms"))
    return marked.where(Key.id == placeholder("key"), is_due)


def _write_last_uses(uses: list[tuple[int, int]]) -> None:
    # All processes write in the same order, which prevents a deadlock.
    for key_id, at_ms in sorted(dict(uses).items()):
        mark_used(key=key_id, used_ms=at_ms)


# Of keys, each by its id with a time.
last_uses = WriteQueue(_write_last_uses, lambda: timeouts.LIMITS.usage_seconds)
