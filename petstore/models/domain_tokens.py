"""Tokens that prove domains by a TXT record, and turns to query DNS."""

import secrets

from peewee import BigIntegerField, ForeignKeyField, Query, TextField

from petstore import clock
from petstore.database import BaseModel, data
from petstore.models.projects import Project
from petstore.statements import slot, statement

TOKEN_BYTES = 20
# Longer than a look-up takes: the turn of a process that was killed ends by itself.
TURN_MS = 15 * clock.MS_PER_SECOND


class DomainToken(BaseModel):
    """The token of a project, made when it adds its first domain."""

    project = ForeignKeyField(Project, primary_key=True)
    token = TextField()
    turn_ends_ms = BigIntegerField(null=True)

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
    def begin_turn(cls, project_id: int) -> int | None:
        """Begin to look up a domain of the project; return when the turn ends.

        Return None while another request, in any process, looks one up.
        """
        rows = _begin_turn(project=project_id, now_ms=clock.now_ms())
        return rows[0][0] if rows else None

    @classmethod
    def end_turn(cls, project_id: int, turn_ends_ms: int) -> None:
        """End the turn that `begin_turn` began."""
        cls.update(turn_ends_ms=None).where(
            cls.project == project_id, cls.turn_ends_ms == turn_ends_ms
        ).execute()


@statement(data)
def _begin_turn() -> Query:
    is_free = DomainToken.turn_ends_ms.is_null() | (
        DomainToken.turn_ends_ms <= data.now_ms
    )
    return (
        DomainToken.update(turn_ends_ms=data.now_ms + TURN_MS)
        .where(DomainToken.project == slot("project"), is_free)
        .returning(DomainToken.turn_ends_ms)
    )
