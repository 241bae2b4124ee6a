"""Categories: each is created when an animal or a name first refers to it."""

import unicodedata
from collections.abc import Iterable
from typing import Any

import peewee
from peewee import SQL, Case, Query, fn

from petstore import randomness
from petstore.models import OfProject, RuleError
from petstore.models.projects import Project, count_if_room, refuse_rows, take_rows
from petstore.storage import BaseModel, Row, compiled, db, placeholder
from petstore.storage.lists import Cursor, Listing, ListPage

# What JavaScript and spreadsheets read exactly is at most 2^53 - 1.
MAX_NEW_ID = 2**53 - 1
NEW = "new"  # the answer that a typed name is that of a new category


class CategoryNameTaken(RuleError):
    field = "name"
    text = "The category {} has this name already."

    def __init__(self, category: Row) -> None:
        super().__init__(f"{category.name} (no. {category.id})")
        self.choices = {str(category.id): category.name}


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
        is_limited = True  # by the plan
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
            refuse_rows(project_id, 1)
        [exists] = taken[0] if taken else [False]
        if exists:
            return False
        if _insert(**_names_of(project_id, category_id, name)):
            return True
        take_rows(project_id, -1)  # somebody else was faster
        return False

    @classmethod
    def add(cls, project_id: int, name: str) -> int:
        """Add a category, and return its id.

        Raises `CategoryNameTaken` and `ProjectFull`.
        """
        with db.atomic():
            take_rows(project_id)  # two that name the same wait for each other
            _require_free(project_id, cls.ids_named(project_id, name))
            return cls.add_next(project_id, name)

    @staticmethod
    def ids_named(project_id: int, name: str) -> list[int]:
        """Return the ids of categories with that name in any case, at most two."""
        rows = Category.select(Category.id).where(
            Category.project == project_id, Category.folded == comparable(name)
        )
        return sorted(row.id for row in rows.limit(2))

    @classmethod
    def add_next(cls, project_id: int, name: str) -> int:
        """Add a category with the next number, and return that.

        Call it in a transaction that has counted it.
        """
        while True:
            last = _select_last(project=project_id)
            number = last[0][0] + 1 if last else 1
            if number > MAX_NEW_ID:  # lower numbers are free
                number = randomness.source.randrange(MAX_NEW_ID)
            if _insert(**_names_of(project_id, number, name)):
                return number

    @classmethod
    def rename(
        cls,
        project_id: int,
        category_id: int,
        name: str | None,
        *,
        is_own: bool = False,
    ) -> tuple[Row, bool]:
        """Name the category, or take its name away; return it and whether it is new.

        Raises `ProjectFull` for a new one, and `CategoryNameTaken` if another has the
        name that is to be its own.
        """
        with db.atomic():
            is_new = cls.ensure(project_id, category_id, name)
            if name and is_own:
                others = {*cls.ids_named(project_id, name)} - {category_id}
                _require_free(project_id, others)
            if not is_new:
                _rename(**_names_of(project_id, category_id, name))
        return cls.row(category_id, name), is_new

    @classmethod
    def listed(cls, project_id: int, cursor: Cursor) -> ListPage:
        of_project = ((cls.project, project_id),)
        return Listing(cls, of_project, is_descending=False).show(cursor)

    @classmethod
    def names(cls, project_id: int, ids: set[int]) -> dict[int, str]:
        """Return the name of each of these categories that has one, by id."""
        known = cls.known(project_id, ids)
        return {each: name for each, name in known.items() if name is not None}

    @staticmethod
    def known(project_id: int, ids: Iterable[int]) -> dict[int, str | None]:
        """Return the name of each of these categories that exists, by id."""
        rows = Category.select(Category.id, Category.name).where(
            Category.project == project_id,
            Category.id.in_(list(ids)),
        )
        return {row.id: row.name for row in rows}

    @staticmethod
    def labels(project_id: int, ids: Iterable[int]) -> dict[int, str]:
        """Return what people call these categories, by id.

        That is the name, with the number where two have the same.
        """
        unnamed = {each: f"Category {each}" for each in ids}
        other = Category.alias()
        has_name = (other.project == project_id) & (other.folded == Category.folded)
        shared = other.select(SQL("1")).where(has_name, other.id != Category.id)
        rows = Category.select(*Category.columns(), fn.EXISTS(shared)).where(
            Category.project == project_id, Category.id.in_(list(unnamed))
        )
        named: Iterable[tuple[int, str | None, bool]] = rows.tuples().iterator()
        return unnamed | {
            number: f"{name} (no. {number})" if is_shared else name
            for number, name, is_shared in named
            if name is not None
        }


# For the start, which refuses rows that release 1.1.0 has written.
Category.add_index(Category.project, Category.id, where=Category.folded.is_null())


def _names_of(project_id: int, category_id: int, name: str | None) -> dict[str, Any]:
    names = {"name": name, "folded": comparable(name or "")}
    return {"project": project_id, "category_id": category_id, **names}


def _require_free(project_id: int, ids: Iterable[int]) -> None:
    for each in ids:
        raise CategoryNameTaken(Category.get_own(project_id, each))


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
def _select_last() -> Query:
    equal = ((Category.project, placeholder("project")),)
    keys = db.order_along_index(equal, (Category.id,))
    few = db.along_index(equal, Category.id >= 0, Category.id <= MAX_NEW_ID)
    return (
        Category.select(Category.id)
        .where(few)
        .order_by(*(key.desc() for key in keys))
        .limit(1)
    )


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
