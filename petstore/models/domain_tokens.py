"""What a project writes into DNS to prove that a domain is its own."""

import secrets

from peewee import ForeignKeyField, TextField

from petstore.database import BaseModel
from petstore.models.projects import Project

TOKEN_BYTES = 20


class DomainToken(BaseModel):
    """The token of a project, made when it adds its first domain."""

    project = ForeignKeyField(Project, primary_key=True)
    token = TextField()

    @classmethod
    def ensure(cls, project: Project) -> None:
        """Let the project have a token; the first one stays."""
        added = cls.insert(project=project, token=secrets.token_hex(TOKEN_BYTES))
        added.on_conflict_ignore().execute()

    @classmethod
    def of(cls, project: Project) -> str:
        """The token of a project that has added a domain."""
        return cls.get_by_id(project.id).token
