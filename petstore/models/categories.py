"""Categories: each comes into being when an animal, or a name, first asks for it."""

from typing import NamedTuple

from peewee import (
    BigIntegerField,
    CompositeKey,
    ForeignKeyField,
    Query,
    TextField,
)

from petstore.database import BaseModel, data
from petstore.models.pages import page_by
from petstore.models.projects import Project
from petstore.statements import slot, statement


class CategoryRow(NamedTuple):
    """A category as it was read or written."""

    id: int
    name: str | None


class Category(BaseModel):
    """A category of a project's animals."""

    project = ForeignKeyField(Project, index=False)
    id = BigIntegerField()
    name = TextField(null=True)

    class Meta:
        primary_key = CompositeKey("project", "id")

    @classmethod
    def ensure(cls, project_id: int, category_id: int, name: str | None = None) -> bool:
        """Let the category exist; whether it did not before."""
        return bool(_ensure(project=project_id, category_id=category_id, name=name))

    @classmethod
    def rename(
        cls, project_id: int, category_id: int, name: str | None
    ) -> tuple[CategoryRow, bool]:
        """Give the category a name, or take it away; whether it is new, too."""
        with data.writing(project_id):
            is_new = cls.ensure(project_id, category_id, name)
            if not is_new:
                cls.update(name=name).where(
                    cls.project == project_id, cls.id == category_id
                ).execute()
        return CategoryRow(category_id, name), is_new

    @classmethod
    def page(cls, project_id: int, *, after: int, limit: int) -> list[CategoryRow]:
        """Categories of the project by ascending id, from beyond `after` on."""
        rows = _page(project=project_id, after=after, limit=limit)
        return list(map(CategoryRow._make, rows))

    @classmethod
    def names(cls, project_id: int, ids: set[int]) -> dict[int, str]:
        """The names, by id, of those of the categories that have one."""
        named = cls.select(cls.id, cls.name).where(
            cls.project == project_id, cls.id.in_(ids), cls.name.is_null(False)
        )
        return dict(named.tuples())


@statement(data)
def _ensure() -> Query:
    return (
        Category.insert(
            project=slot("project"), id=slot("category_id"), name=slot("name")
        )
        .on_conflict_ignore()
        .returning(Category.id)
    )


_page = page_by(Category.id, (Category.id, Category.name))
