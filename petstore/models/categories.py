"""Categories: each is created when an animal or a name first refers to it."""

import unicodedata
from typing import Any

import peewee
from peewee import SQL, Case, Query, fn

from petstore.models import OfProject
from petstore.models.projects import Project, count_if_room, refuse_rows, take_rows
from petstore.storage import BaseModel, Row, compiled, db, placeholder


def comparable(name: str) -> str:
    """Return a name as it is compared: in one case, with single blanks within it."""
    return unicodedata.normalize("NFC", " ".join(name.casefold().split()))


class Category(OfProject, BaseModel):
    """A category of the animals of a project."""

    noun = "category"

    project = peewee.ForeignKeyField(Project, index=False)
    id = peewee.BigIntegerField()
    name = peewee.TextField(null=True)
    folded = peewee.TextField(null=True)  # as `comparable` has it, or an empty text

    class Meta:
        hidden = {"project", "folded"}
        primary_key = peewee.CompositeKey("project", "id")
        indexes = ((("project", "folded"), False),)

    @staticmethod
    def ensure(
        project_id: int, category_id: int, name: str | None = None, *, rows: int = 0
    ) -> bool:
        """Add the category unless it exists; return whether it was added.

        It is counted by `take_rows`, together with so many other rows. Call it in a
        transaction. Raises `ProjectFull`.
        """
        values = {"project": project_id, "category_id": category_id}
        # Twice, since a statement that has waited does not see what others have added.
        taken = _count_new(**values, rows=rows) or _count_new(**values, rows=rows)
        if not taken:
            refuse_rows(project_id)
        [exists] = taken[0] if taken else [False]
        if exists:
            return False
        if _insert(**_names_of(project_id, category_id, name)):
            return True
        take_rows(project_id, -1)  # somebody else was faster
        return False

    @classmethod
    def rename(
        cls, project_id: int, category_id: int, name: str | None
    ) -> tuple[Row, bool]:
        """Name the category, or take its name away; return it and whether it is new.

        Raises `ProjectFull` for a new one.
        """
        with db.atomic():
            is_new = cls.ensure(project_id, category_id, name)
            if not is_new:
                _rename(**_names_of(project_id, category_id, name))
        return cls.row(category_id, name), is_new


def _names_of(project_id: int, category_id: int, name: str | None) -> dict[str, Any]:
    names = {"name": name, "folded": comparable(name or "")}
    return {"project": project_id, "category_id": category_id, **names}


CATEGORY_BY_ID = (Category.project == placeholder("project")) & (
    Category.id == placeholder("category_id")
)
# Whether there is the category of a statement.
CATEGORY_EXISTS = fn.EXISTS(Category.select(SQL("1")).where(CATEGORY_BY_ID))


@compiled(db)
def _count_new() -> Query:
    rows = Case(None, [(CATEGORY_EXISTS, placeholder("rows"))], placeholder("rows") + 1)
    return count_if_room(rows).returning(CATEGORY_EXISTS)


@compiled(db)
def _insert() -> Query:
    return (
        Category.insert(
            project=placeholder("project"),
            id=placeholder("category_id"),
            name=placeholder("name"),
            folded=placeholder("folded"),
        )
        .on_conflict_ignore()
        .returning(Category.id)
    )


@compiled(db)
def _rename() -> Query:
    names = {"name": placeholder("name"), "folded": placeholder("folded")}
    return Category.update(names).where(CATEGORY_BY_ID)
