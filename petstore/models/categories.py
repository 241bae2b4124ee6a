"""Categories: each comes into being when an animal first names it."""

from peewee import BigIntegerField, CompositeKey, ForeignKeyField, TextField

from petstore.database import BaseModel
from petstore.models.projects import Project


class Category(BaseModel):
    """A category of a project's animals."""

    project = ForeignKeyField(Project, index=False)
    id = BigIntegerField()
    name = TextField(null=True)

    class Meta:
        primary_key = CompositeKey("project", "id")

    @classmethod
    def ensure(cls, project_id: int, category_id: int) -> None:
        """Let the category exist."""
        cls.insert(project=project_id, id=category_id).on_conflict_ignore().execute()
