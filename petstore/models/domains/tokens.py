"""Tokens that prove domains by a TXT record, and a lock for queries of DNS."""

import secrets

from peewee import BigIntegerField, ForeignKeyField, TextField

from petstore import clock
from petstore.models.projects import Project
from petstore.storage import BaseModel

TOKEN_BYTES = 20
# Longer than a check takes: the lock of a process that was killed ends by itself. The
# clocks of several hosts may differ by seconds.
LOCK_MS = 15 * clock.MS_PER_SECOND


class DomainToken(BaseModel):
    """The token of a project, made when it adds its first domain."""

    project = ForeignKeyField(Project, primary_key=True)
    token = TextField()
    locked_until_ms = BigIntegerField(null=True)

    @classmethod
    def ensure(cls, project: Project) -> None:
        """Make a token unless the project has one."""
        insert = cls.insert(project=project, token=secrets.token_hex(TOKEN_BYTES))
        insert.on_conflict_ignore().execute()

    @classmethod
    def of(cls, project: Project) -> str:
        """Return the token of a project that has added a domain."""
        return cls.get_by_id(project.id).token

    @classmethod
    def acquire_lock(cls, project_id: int) -> int | None:
        """Lock the project for a check of one of its domains; return when it ends.

        Return None while another request, in any process, has locked it.
        """
        now = clock.now_ms()
        is_free = cls.locked_until_ms.is_null() | (cls.locked_until_ms <= now)
        update = cls.update(locked_until_ms=now + LOCK_MS)
        is_locked = update.where(cls.project == project_id, is_free).execute()
        return now + LOCK_MS if is_locked else None

    @classmethod
    def release_lock(cls, project_id: int, locked_until_ms: int) -> None:
        """Release the lock that `acquire_lock` returned."""
        cls.update(locked_until_ms=None).where(
            cls.project == project_id, cls.locked_until_ms == locked_until_ms
        ).execute()
