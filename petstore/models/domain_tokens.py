"""What a project writes into DNS to prove its domains, and its turn to be looked up."""

import secrets

from peewee import BigIntegerField, ForeignKeyField, Query, TextField

from petstore import clock
from petstore.database import BaseModel, data
from petstore.models.projects import Project
from petstore.statements import slot, statement

TOKEN_BYTES = 20
# A look-up takes less; the turn of a process that was killed ends by itself.
TURN_MS = 15 * clock.MS_PER_SECOND


class DomainToken(BaseModel):
    """The token of a project, made when it adds its first domain."""

    project = ForeignKeyField(Project, primary_key=True)
    token = TextField()
    turn_ends_ms = BigIntegerField(null=True)

    @classmethod
    def ensure(cls, project: Project) -> None:
        """Let the project have a token; the first one stays."""
        added = cls.insert(project=project, token=secrets.token_hex(TOKEN_BYTES))
        added.on_conflict_ignore().execute()

    @classmethod
    def of(cls, project: Project) -> str:
        """The token of a project that has added a domain."""
        return cls.get_by_id(project.id).token

    @classmethod
    def begin_turn(cls, project_id: int) -> int | None:
        """Begin to look up a domain of the project; what ends the turn.

        None while another process, or another request, looks one up.
        """
        begun = _begin_turn(project=project_id, now_ms=clock.now_ms())
        return begun[0][0] if begun else None

    @classmethod
    def end_turn(cls, project_id: int, turn_ends_ms: int) -> None:
        """Let the project's next look-up begin."""
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
