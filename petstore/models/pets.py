"""Animals for adoption (specification section 2)."""

from collections.abc import Iterable
from typing import Any, Self

import peewee
from peewee import SQL, Query, Select, fn

from petstore import clock
from petstore.events import actor
from petstore.models import Conflict, NotFound, OfProject
from petstore.models.categories import CATEGORY_BY_ID, CATEGORY_EXISTS, Category
from petstore.models.projects import PROJECT, Project, count_if_room, take_rows
from petstore.models.searching import SearchTerms, is_outdated, searchable
from petstore.storage import BaseModel, Row, compiled, db, placeholder
from petstore.storage.lists import Cursor, Listing, ListPage, count_each

STATUSES = ("available", "pending", "sold")
MOST_OF_CATEGORY = 1_000  # animals that are counted


class PetNotAvailable(Conflict):
    code = "pet_not_available"
    text = "The animal {} is {}: set its status to available first."


class CategoryInUse(Conflict):
    code = "category_in_use"


class Pet(OfProject, BaseModel):
    """An animal of a project."""

    noun = "animal"

    id = peewee.BigAutoField()
    project = peewee.ForeignKeyField(Project, index=False)
    name = peewee.TextField()
    category_id = peewee.BigIntegerField()
    status = peewee.TextField()
    folded = peewee.TextField(null=True)  # the name, as `searchable` has it
    # When it was added and last corrected, and by whom, as in `petstore.events.actor`.
    # They are null if release 1.1.0 did it.
    added_ms = peewee.BigIntegerField(null=True)
    added_by = peewee.TextField(null=True)
    changed_ms = peewee.BigIntegerField(null=True)
    changed_by = peewee.TextField(null=True)
    # How often its name, category or status was written. A trigger counts, also what
    # the release before this one writes.
    writes = peewee.BigIntegerField(constraints=[SQL("DEFAULT 0")])
    # The order of it that was closed last, and which of the writes did that; null if
    # release 1.3.0 closed it.
    closed_order = peewee.BigIntegerField(null=True)
    closed_write = peewee.BigIntegerField(null=True)

    class Meta:
        hidden = {
            "project",
            "folded",
            "added_ms",
            "added_by",
            "changed_ms",
            "changed_by",
            "writes",
            "closed_order",
            "closed_write",
        }
        is_limited = True  # by the plan
        indexes = (
            (("project", "id", "folded"), False),  # which the search reads alone
            (("project", "status", "id"), False),
            (("project", "category_id", "id"), False),
            (("project", "category_id", "status", "id"), False),
        )

    @classmethod
    def add(cls, project_id: int, **members: Any) -> Row:
        """Add an animal, and its category if no animal has named it before.

        The animals of a project are committed in the order of their ids. A client that
        reads on from the last id it has seen therefore misses none. Raises
        `ProjectFull`.
        """
        values = _columns(project_id, members)
        if db.writes_in_cte and (rows := _insert_counted.autocommit(**values)):
            return rows[0]
        with db.atomic():
            Category.ensure(project_id, members["category_id"], rows=1)
            rows = _insert(**values)
            if not rows:  # the category was deleted while this waited
                Category.ensure(project_id, members["category_id"])
                rows = _insert(**values)
        return rows[0]

    @classmethod
    def correct(cls, project_id: int, pet_id: int, **changes: Any) -> Row:
        """Change what is given, and return the animal.

        A category that no animal has named before is added. Call it in a transaction,
        as `petstore.models.orders.correct_pet` does, which knows when the status may
        change. Raises `NotFound`, and `ProjectFull` for a new category.
        """
        changes = _folded(changes) | _by_now()
        if "category_id" in changes:
            take_rows(project_id, 0)  # no category is deleted meanwhile
            Category.ensure(project_id, changes["category_id"])
        values = {"project": project_id, "id": pet_id, **changes}
        for row in _correct(*sorted(changes), **values):
            return row
        raise NotFound(cls.noun, pet_id)

    @classmethod
    def listed(
        cls,
        project_id: int,
        cursor: Cursor,
        *,
        status: str | None = None,
        category_id: int | None = None,
        name: str = "",
        sort: str | None = None,
    ) -> ListPage:
        """Return a page of the project's animals, newest first, or the newest by name.

        The rows also have `added_ms`. `name` is searched in their names, or it is the
        number of an animal.
        """
        terms = SearchTerms.of(name, needs_sign=False)
        filters = (
            (cls.project, project_id),
            (cls.category_id, category_id),
            (cls.status, status),
            (cls.id, terms.number),
        )
        return Listing(
            cls,
            filters,
            search=terms.search(cls.folded),
            sort=cls.folded if sort else None,
            more_columns=(cls.added_ms,),
        ).show(cursor)

    @classmethod
    def counts(cls, project_id: int, category_id: int | None = None) -> dict[str, int]:
        filters = ((cls.project, project_id), (cls.category_id, category_id))
        return count_each(filters, cls.status, STATUSES)

    @classmethod
    def count_by_category(cls, project_id: int, ids: set[int]) -> dict[int, int]:
        """Return how many animals each category has; at most MOST_OF_CATEGORY."""
        is_of_category = cls.category_id == Category.id
        few = cls.select(SQL("1")).where(
            cls.project == Category.project, is_of_category
        )
        number = few.limit(MOST_OF_CATEGORY).select_from(fn.COUNT(SQL("*")))
        counted = Category.select(Category.id, number).where(
            Category.project == project_id, Category.id.in_(ids)
        )
        return dict(db.scan(counted))

    @classmethod
    def with_ids(cls, project_id: int, ids: Iterable[int]) -> dict[int, Row]:
        """Return the project's animals that have these ids, by id."""
        rows = cls.select(*cls.columns()).where(
            cls.project == project_id, cls.id.in_(list(ids))
        )
        return {row[0]: cls.row(*row) for row in rows.tuples().iterator()}

    @classmethod
    def names(cls, project_id: int, ids: set[int]) -> dict[int, str]:
        pets = cls.with_ids(project_id, ids)
        return {pet_id: pet.name for pet_id, pet in pets.items()}

    @staticmethod
    def reserve(project_id: int, pet_id: int, status: str = "available") -> bool:
        """Make an animal of that status pending; return whether it had that status."""
        return bool(_reserve(project=project_id, id=pet_id, status=status))

    @staticmethod
    def release(project_id: int, pet_id: int, status: str, order_id: int) -> None:
        """Make a pending animal sold, or available again, because an order is closed.

        `reserve_again` takes that back.
        """
        _release(project=project_id, id=pet_id, status=status, order=order_id)

    @classmethod
    def reserve_again(
        cls, project_id: int, pet_id: int, order_id: int, closed_write: int | None
    ) -> bool:
        """Make an animal pending if the closing of an order has written it last.

        With `closed_write`, only if it was that write. Return whether it was so.
        """
        is_pet = (cls.project == project_id) & (cls.id == pet_id)
        is_last = (cls.closed_order == order_id) & (cls.closed_write == cls.writes)
        if closed_write is not None:
            is_last &= cls.closed_write == closed_write
        return bool(cls.update(status="pending").where(is_pet, is_last).execute())

    @classmethod
    def remove(
        cls, project_id: int, pet_id: int, *, is_as_added: bool = False
    ) -> Self | None:
        """Delete an animal, and return it with its name alone, if there is one.

        With `is_as_added`, only if nobody has written it since it was added. Call it in
        a transaction.
        """
        removed = cls.delete().where(cls.project == project_id, cls.id == pet_id)
        if is_as_added:
            removed = removed.where(cls.writes == 0)
        pets = list(removed.returning(cls.name, cls.folded).execute())
        return pets[0] if pets else None


# For the start, which refuses rows that release 1.1.0 has written.
Pet.add_index(Pet.id, where=Pet.folded.is_null())
Pet.add_index(Pet.id, where=is_outdated(Pet.folded), name="pet_outdated")

_BY_ID = (Pet.project == placeholder("project")) & (Pet.id == placeholder("id"))


@compiled(db)
def _reserve() -> Query:
    has_status = Pet.status == placeholder("status")
    ordered = Pet.update(status="pending").where(_BY_ID, has_status)
    return ordered.returning(Pet.id)


@compiled(db)
def _correct(*names: str) -> Query:
    changes = {name: placeholder(getattr(Pet, name)) for name in names}
    return Pet.update(changes).where(_BY_ID).returning(*Pet.columns())


@compiled(db)
def _release() -> Query:
    closed = {"closed_order": placeholder("order"), "closed_write": Pet.writes + 1}
    released = Pet.update({"status": placeholder("status"), **closed})
    return released.where(_BY_ID, Pet.status == "pending")


def _folded(changes: dict[str, Any]) -> dict[str, Any]:
    if "name" not in changes:
        return changes
    return changes | {"folded": searchable(changes["name"])}


def _by_now() -> dict[str, Any]:
    return {"changed_ms": clock.now_ms(), "changed_by": actor.get()}


def _columns(project_id: int, members: dict[str, Any]) -> dict[str, Any]:
    return {
        **_NOTHING,
        "project": project_id,
        "folded": searchable(members["name"]),
        "added_ms": clock.now_ms(),
        "added_by": actor.get(),
        **members,
    }


_LATER = {"changed_ms", "changed_by", "writes", "closed_order", "closed_write"}
# The values of a new animal in the columns that nobody sets.
_NOTHING = dict.fromkeys(Pet._meta.fields.keys() - {"id", *_LATER})


_COLUMNS = [getattr(Pet, name) for name in _NOTHING]
_VALUES = [placeholder(column) for column in _COLUMNS]


@compiled(db)
def _insert() -> Query:
    values = Select(columns=_VALUES).where(CATEGORY_EXISTS)
    return Pet.insert_from(values, _COLUMNS).returning(*Pet.columns())


@compiled(db)
def _insert_counted() -> Query:
    """Count an animal and insert it, if its category exists and there is room."""
    category = Category.select(Category.project).where(CATEGORY_BY_ID)
    # The project's turn comes before the category, as it does for all its writers.
    known = db.lock_in_turn(category, PROJECT).cte("known")
    count = count_if_room(SQL("1"), known.c.project_id).from_(known)
    counted = count.where(db.is_in_time).returning(Project.id).cte("counted")
    insert = Pet.insert_from(Select([counted], _VALUES), _COLUMNS)
    return insert.with_cte(known, counted).returning(*Pet.columns())


def remove_category(project_id: int, category_id: int) -> None:
    """Delete a category that no animal has; raises `NotFound` and `CategoryInUse`."""
    is_category = (Category.project == project_id) & (Category.id == category_id)
    with db.atomic():
        take_rows(project_id, -1)  # no animal gets it meanwhile
        pets = Pet.select(SQL("1")).where(
            Pet.project == project_id, Pet.category_id == category_id
        )
        if not Category.delete().where(is_category, ~fn.EXISTS(pets)).execute():
            Category.get_own(project_id, category_id)
            raise CategoryInUse(category_id)
