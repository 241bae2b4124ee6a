"""Animals for adoption (specification section 2)."""

import functools
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple, Self

from peewee import (
    SQL,
    BigAutoField,
    BigIntegerField,
    ForeignKeyField,
    Query,
    Select,
    Table,
    TextField,
    fn,
)

from petstore import clock
from petstore.events import actor
from petstore.models import Conflict, NotFound
from petstore.models.categories import CATEGORY_EXISTS, Category, CategoryTable
from petstore.models.projects import Project, take_rows
from petstore.models.searching import Wanted, fold
from petstore.storage import BaseModel, Statement, db, page_statements, slot, statement
from petstore.storage.lists import List, Listed, Part, count_each

STATUSES = ("available", "pending", "sold")
MOST_OF_CATEGORY = 1_000  # animals that are counted


class PetNotAvailable(Conflict):
    code = "pet_not_available"
    text = "The animal {} is {}: set its status to available first."


class PetOrdered(PetNotAvailable):
    text = "The animal {} has the open order {}: complete or cancel it first."


class Pet(NamedTuple):
    """An animal of a project."""

    id: int
    name: str
    category_id: int
    status: str

    @classmethod
    def add(cls, project_id: int, **members: Any) -> Self:
        """Add an animal, and its category if no animal has named it before.

        The animals of a project are committed in the order of their ids. A client that
        reads on from the last id it has seen therefore misses none. Raises
        `ProjectFull`.
        """
        values = _values(project_id, members)
        with db.atomic():
            Category.ensure(project_id, members["category_id"], rows=1)
            rows = _insert_one(**values)
            if not rows:  # the category was deleted while this waited
                Category.ensure(project_id, members["category_id"])
                rows = _insert_one(**values)
        return cls(rows[0][0], **members)

    @staticmethod
    def add_many(project_id: int, pets: Iterable[dict[str, Any]]) -> None:
        """Add animals of these members, whose categories exist.

        Call it in a transaction that has counted their rows.
        """
        _insert.run_many(_values(project_id, members) for members in pets)

    @classmethod
    def find(cls, project_id: int, pet_id: int) -> Self:
        """Return one animal of the project; raises `NotFound`."""
        for row in _select_one(project=project_id, id=pet_id):
            return cls(*row)
        raise NotFound("animal", pet_id)

    @staticmethod
    def origin(project_id: int, pet_id: int) -> "Origin":
        """Return when and by whom an animal was added, and corrected last."""
        for row in _select_origin(project=project_id, id=pet_id):
            return Origin(*row)
        raise NotFound("animal", pet_id)

    @classmethod
    def correct(cls, project_id: int, pet_id: int, **changes: Any) -> Self:
        """Change what is given, and return the animal.

        A category that no animal has named before is added. Raises `NotFound`,
        `PetOrdered` for another status than that of its open order, and `ProjectFull`
        for a new category.
        """
        changes = _changed(changes)
        with db.atomic():
            if changes.keys() & {"category_id", "status"}:
                # No order is placed meanwhile, and no category deleted.
                take_rows(project_id, 0)
            if "category_id" in changes:
                Category.ensure(project_id, changes["category_id"])
            if "status" in changes:
                pet = cls.find(project_id, pet_id)
                if pet.status != changes["status"]:
                    cls.require_no_order(project_id, pet_id)
            correct = _correct(*sorted(changes))
            for row in correct(project=project_id, id=pet_id, **changes):
                return cls(*row)
            raise NotFound("animal", pet_id)

    @staticmethod
    def correct_many(project_id: int, changes: dict[int, dict[str, Any]]) -> None:
        """Change animals by their ids, as `correct` does; their categories exist.

        Call it in a transaction in which others withdraw none.
        """
        rows = defaultdict(list)  # by the columns that change
        for pet_id, each in changes.items():
            values = _changed(each)
            row = values | {"project": project_id, "id": pet_id}
            rows[tuple(sorted(values))].append(row)
        for columns, some in rows.items():
            _correct(*columns).run_many(some)

    @classmethod
    def withdraw(cls, project_id: int, pet_id: int) -> None:
        """Delete an animal without an open order; its orders stay, and keep its id.

        Raises `NotFound` and `PetOrdered`.
        """
        with db.atomic():
            take_rows(project_id, -1)  # no order is placed meanwhile
            cls.require_no_order(project_id, pet_id)
            if not _delete(project=project_id, id=pet_id):
                raise NotFound("animal", pet_id)

    @staticmethod
    def require_no_order(project_id: int, pet_id: int) -> None:
        """Raise `PetOrdered` for an animal that has an open order."""
        for (order_id,) in _select_open_order(project=project_id, pet_id=pet_id):
            raise PetOrdered(pet_id, order_id)

    @classmethod
    def page(cls, project_id: int, **part: int | str) -> list[Self]:
        """Return animals of the project by ascending id, after the id `after`.

        There are at most `limit`; perhaps those with a `status` or a `category_id`.
        """
        return list(map(cls._make, _page_by(*part)(project=project_id, **part)))

    @classmethod
    def listed(
        cls,
        project_id: int,
        part: Part,
        *,
        status: str | None = None,
        category_id: int | None = None,
        name: str = "",
        sort: str | None = None,
    ) -> Listed:
        """Return a part of the project's animals, newest first, or the newest by name.

        `name` searches their names, or is the number of one, as `Wanted` has it.
        """
        wanted = Wanted.of(name, needs_sign=False)
        filters = (
            (PetTable.project, project_id),
            (PetTable.category_id, category_id),
            (PetTable.status, status),
            (PetTable.id, wanted.number),
        )
        return List(
            PetTable.id,
            filters,
            _COLUMNS,
            cls._make,
            search=wanted.search(PetTable.folded),
            sort=PetTable.folded if sort else None,
        ).show(part)

    @staticmethod
    def counts(project_id: int, category_id: int | None = None) -> dict[str, int]:
        filters = (
            (PetTable.project, project_id),
            (PetTable.category_id, category_id),
        )
        return count_each(PetTable.id, filters, PetTable.status, STATUSES)

    @staticmethod
    def count_by_category(project_id: int, ids: set[int]) -> dict[int, int]:
        """Return how many animals each category has; at most MOST_OF_CATEGORY."""
        few = PetTable.select(SQL("1")).where(
            PetTable.project == CategoryTable.project,
            PetTable.category_id == CategoryTable.id,
        )
        number = few.limit(MOST_OF_CATEGORY).select_from(fn.COUNT(SQL("*")))
        counted = CategoryTable.select(CategoryTable.id, number).where(
            CategoryTable.project == project_id, CategoryTable.id.in_(ids)
        )
        return dict(db.scan(counted))

    @classmethod
    def with_ids(cls, project_id: int, ids: Iterable[int]) -> dict[int, Self]:
        """Return the project's animals that have these ids, by id."""
        rows = PetTable.select(*_COLUMNS).where(
            PetTable.project == project_id, PetTable.id.in_(list(ids))
        )
        return {row[0]: cls(*row) for row in rows.tuples().iterator()}

    @staticmethod
    def names(project_id: int, ids: set[int]) -> dict[int, str]:
        pets = Pet.with_ids(project_id, ids)
        return {pet_id: pet.name for pet_id, pet in pets.items()}

    @staticmethod
    def added(project_id: int, ids: set[int]) -> dict[int, int | None]:
        """Return when these animals were added, as far as it is known, by id."""
        rows = PetTable.select(PetTable.id, PetTable.added_ms).where(
            PetTable.project == project_id, PetTable.id.in_(list(ids))
        )
        return dict(rows.tuples().iterator())

    @staticmethod
    def reserve(project_id: int, pet_id: int) -> bool:
        """Make an available animal pending; return whether it was available."""
        return bool(_reserve(project=project_id, id=pet_id))

    @staticmethod
    def release(project_id: int, pet_id: int, status: str) -> None:
        """Make a pending animal sold, or available again."""
        _release(project=project_id, id=pet_id, status=status)


class Origin(NamedTuple):
    """When an animal was added and corrected, and by whom, as far as it is known."""

    added_ms: int | None
    added_by: str | None  # the prefix of a key, or what `petstore.events` has
    changed_ms: int | None
    changed_by: str | None


class PetTable(BaseModel):
    """The animals of all projects."""

    id = BigAutoField()
    project = ForeignKeyField(Project, index=False)
    name = TextField()
    category_id = BigIntegerField()
    status = TextField()
    folded = TextField(null=True)  # the name, unless the release before has written it
    # When it was added and corrected last, and by which key, if this release did it.
    added_ms = BigIntegerField(null=True)
    added_by = TextField(null=True)
    changed_ms = BigIntegerField(null=True)
    changed_by = TextField(null=True)

    class Meta:
        table_name = "pet"
        is_limited = True  # by the plan
        indexes = (
            (("project", "id", "folded"), False),  # which the search reads alone
            (("project", "status", "id"), False),
            (("project", "category_id", "id"), False),
            (("project", "category_id", "status", "id"), False),
        )


# For housekeeping.
PetTable.add_index(PetTable.id, where=PetTable.folded.is_null())

_COLUMNS = tuple(getattr(PetTable, name) for name in Pet._fields)
_WRITTEN = (
    *(PetTable.project, *_COLUMNS[1:], PetTable.folded),
    *(PetTable.added_ms, PetTable.added_by),
)

_page_by = page_statements(PetTable.id, _COLUMNS, PetTable.category_id, PetTable.status)

_BY_ID = (PetTable.project == slot("project")) & (PetTable.id == slot("id"))


@statement(db)
def _select_one() -> Query:
    return PetTable.select(*_COLUMNS).where(_BY_ID)


@statement(db)
def _select_origin() -> Query:
    columns = [getattr(PetTable, name) for name in Origin._fields]
    return PetTable.select(*columns).where(_BY_ID)


@statement(db)
def _reserve() -> Query:
    return (
        PetTable.update(status="pending")
        .where(_BY_ID, PetTable.status == "available")
        .returning(PetTable.id)
    )


@functools.cache
def _correct(*names: str) -> Statement:
    """Return the statement that changes these columns, which a schema has named."""
    changes = {name: slot(getattr(PetTable, name)) for name in names}
    return Statement(
        db, lambda: PetTable.update(changes).where(_BY_ID).returning(*_COLUMNS)
    )


@statement(db)
def _delete() -> Query:
    return PetTable.delete().where(_BY_ID).returning(PetTable.id)


_ORDERS = Table("pet_order")  # its model refers to this one


@statement(db)
def _select_open_order() -> Query:
    columns = (_ORDERS.c.project_id, _ORDERS.c.pet_id, _ORDERS.c.status)
    values = (slot("project"), slot("pet_id"), "placed")
    equal = list(zip(columns, values, strict=True))
    return _ORDERS.select(_ORDERS.c.id).where(db.along_index(equal, _ORDERS.c.id >= 0))


@statement(db)
def _release() -> Query:
    return PetTable.update(status=slot("status")).where(
        _BY_ID, PetTable.status == "pending"
    )


def _changed(changes: dict[str, Any]) -> dict[str, Any]:
    if "name" in changes:
        changes = changes | {"folded": fold(changes["name"])}
    return changes | {"changed_ms": clock.now_ms(), "changed_by": actor.get()}


def _values(project_id: int, members: dict[str, Any]) -> dict[str, Any]:
    return {
        "project": project_id,
        "folded": fold(members["name"]),
        "added_ms": clock.now_ms(),
        "added_by": actor.get(),
        **Pet._field_defaults,
        **members,
    }


@statement(db)
def _insert() -> Query:
    return PetTable.insert({column: slot(column) for column in _WRITTEN})


@statement(db)
def _insert_one() -> Query:
    values = Select(columns=[slot(column) for column in _WRITTEN])
    insert = PetTable.insert_from(values.where(CATEGORY_EXISTS), _WRITTEN)
    return insert.returning(PetTable.id)
