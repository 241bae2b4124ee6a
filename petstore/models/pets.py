"""Animals for adoption (specification section 2)."""

from typing import Any

import peewee
from peewee import SQL, Query, Select, fn

from petstore import clock
from petstore.events import actor
from petstore.models import Conflict, NotFound, OfProject
from petstore.models.categories import CATEGORY_BY_ID, CATEGORY_EXISTS, Category
from petstore.models.projects import PROJECT, Project, count_if_room, take_rows
from petstore.models.searching import searchable
from petstore.storage import BaseModel, Row, compiled, db, placeholder

STATUSES = ("available", "pending", "sold")
# The columns that nobody sets in a new animal.
_LATER = {"changed_ms", "changed_by", "writes", "closed_order", "closed_write"}


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
    # When it was added and last corrected, and by whom, as in `petstore.events.actor`;
    # null in rows of old releases, and if it was never corrected.
    added_ms = peewee.BigIntegerField(null=True)
    added_by = peewee.TextField(null=True)
    changed_ms = peewee.BigIntegerField(null=True)
    changed_by = peewee.TextField(null=True)
    # How often its name, category or status was written, as a trigger counts.
    writes = peewee.BigIntegerField(constraints=[SQL("DEFAULT 0")])
    # The order of it that was closed last, and which of the writes did that.
    closed_order = peewee.BigIntegerField(null=True)
    closed_write = peewee.BigIntegerField(null=True)

    class Meta:
        hidden = {"project", "folded", "added_ms", "added_by", *_LATER}
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
        values = _NOTHING | members
        values |= {"project": project_id, "folded": searchable(members["name"])}
        values |= {"added_ms": clock.now_ms(), "added_by": actor.get()}
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
        if "name" in changes:
            changes["folded"] = searchable(changes["name"])
        changes |= {"changed_ms": clock.now_ms(), "changed_by": actor.get()}
        if "category_id" in changes:
            take_rows(project_id, 0)  # no category is deleted meanwhile
            Category.ensure(project_id, changes["category_id"])
        values = {"project": project_id, "id": pet_id, **changes}
        for row in _correct(*sorted(changes), **values):
            return row
        raise NotFound(cls.noun, pet_id)


_BY_ID = (Pet.project == placeholder("project")) & (Pet.id == placeholder("id"))


@compiled(db)
def reserve() -> Query:
    """Make an available animal pending; return its id if it was available."""
    ordered = Pet.update(status="pending").where(_BY_ID, Pet.status == "available")
    return ordered.returning(Pet.id)


@compiled(db)
def _correct(*names: str) -> Query:
    changes = {name: placeholder(getattr(Pet, name)) for name in names}
    return Pet.update(changes).where(_BY_ID).returning(*Pet.columns())


@compiled(db)
def release() -> Query:
    """Make a pending animal sold or available, because its order is closed."""
    closed = {"closed_order": placeholder("order"), "closed_write": Pet.writes + 1}
    released = Pet.update({"status": placeholder("status"), **closed})
    return released.where(_BY_ID, Pet.status == "pending")


# A new animal, without the values that are known of it.
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
