"""Animals for adoption."""

from typing import NamedTuple
from weakref import WeakValueDictionary

from peewee import (
    BigAutoField,
    BigIntegerField,
    Field,
    ForeignKeyField,
    Query,
    Select,
    TextField,
    Value,
    fn,
)

from petstore.batches import Batch
from petstore.database import BaseModel, data, is_sqlite
from petstore.models.categories import Category
from petstore.models.pages import page_by
from petstore.models.projects import Project
from petstore.statements import slot, statement

STATUSES = ("available", "pending", "sold")


class PetRow(NamedTuple):
    """An animal as it was read or written."""

    id: int
    name: str
    category_id: int
    status: str


class Pet(BaseModel):
    """An animal of a project."""

    id = BigAutoField()
    project = ForeignKeyField(Project, index=False)
    name = TextField()
    category_id = BigIntegerField()
    status = TextField()

    class Meta:
        indexes = (
            (("project", "id"), False),
            (("project", "status", "id"), False),
        )

    @classmethod
    def add(cls, project_id: int, name: str, category_id: int, status: str) -> PetRow:
        """Add an animal, and its category where it is the first to name it.

        A project's animals are committed in the order of their ids, so that a reader
        who follows the ids never passes one that is still to appear.
        """
        values = {
            "project": project_id,
            "name": name,
            "category_id": category_id,
            "status": status,
        }
        add = _add_to_sqlite if is_sqlite(data.obj) else _add_to_postgresql
        [(pet_id,)] = add(values)
        return PetRow(pet_id, name, category_id, status)

    @classmethod
    def find(cls, project_id: int, pet_id: int) -> PetRow | None:
        """One animal of the project."""
        rows = _one(project=project_id, id=pet_id)
        return PetRow(*rows[0]) if rows else None

    @classmethod
    def page(
        cls, project_id: int, *, after: int, limit: int, status: str | None
    ) -> list[PetRow]:
        """Animals of the project by ascending id, from the first beyond `after` on."""
        page = _page if status is None else _page_by_status
        rows = page(project=project_id, after=after, status=status, limit=limit)
        return list(map(PetRow._make, rows))

    @classmethod
    def names(cls, project_id: int, ids: set[int]) -> dict[int, str]:
        """The names of the project's animals with these ids, by id."""
        named = cls.select(cls.id, cls.name).where(
            cls.project == project_id, cls.id.in_(ids)
        )
        return dict(named.tuples())

    @classmethod
    def move(cls, project_id: int, pet_id: int, before: str, after: str) -> bool:
        """Take the animal from one status to another; False when it is not in it."""
        moved = cls.update(status=after).where(
            cls.project == project_id, cls.id == pet_id, cls.status == before
        )
        return bool(moved.execute())


_COLUMNS = (Pet.id, Pet.name, Pet.category_id, Pet.status)
_page = page_by(Pet.id, _COLUMNS)
_page_by_status = page_by(Pet.id, _COLUMNS, Pet.status)


@statement(data)
def _one() -> Query:
    return Pet.select(*_COLUMNS).where(
        Pet.project == slot("project"), Pet.id == slot("id")
    )


def _add_to_sqlite(values: dict[str, int | str]) -> list[tuple]:
    with data.writing(values["project"]):
        # The category is known, but for once.
        if rows := _insert_in_known(**values):
            return rows
        Category.ensure(values["project"], values["category_id"])
        return _insert_in_known(**values)


def _add_to_postgresql(values: dict[str, int | str]) -> list[tuple]:
    if data.in_transaction():
        return _insert_in_turn([values])
    project_id = values["project"]
    batch = _batches.get(project_id)
    if batch is None:
        batch = _batches[project_id] = Batch(_insert_in_turn)
    return [batch.run(values)]


# Animals that are added to a project at the same time share a transaction.
_batches: WeakValueDictionary[int, Batch] = WeakValueDictionary()


@statement(data)
def _insert_in_known() -> Query:
    values = _written()
    known = Category.select(*values.values()).where(
        Category.project == slot("project"), Category.id == slot("category_id")
    )
    return Pet.insert_from(known, list(values)).returning(Pet.id)


def _insert_in_turn(animals: list[dict[str, int | str]]) -> list[tuple]:
    ids = _insert_all_in_turn(
        project=animals[0]["project"],
        names=[animal["name"] for animal in animals],
        category_ids=[animal["category_id"] for animal in animals],
        statuses=[animal["status"] for animal in animals],
    )
    return sorted(ids)


@statement(data, is_timely=True)
def _insert_all_in_turn() -> Query:
    # Lock, categories and animals in one round trip. The rows come from the scan of
    # the lock, so that ids are drawn, in order, when the lock is held, and in time.
    lock = fn.pg_advisory_xact_lock(slot("project"))
    turn = Select(columns=[lock.alias("turn")]).cte("turn")
    added = (
        Select(
            [turn],
            [
                fn.unnest(slot("names").cast("text[]")).alias("name"),
                fn.unnest(slot("category_ids").cast("bigint[]")).alias("category_id"),
                fn.unnest(slot("statuses").cast("text[]")).alias("status"),
            ],
        )
        .where(data.in_time)
        .cte("added")
    )
    categories = Category.insert_from(
        Select([added], [slot("project"), added.c.category_id]).distinct(),
        [Category.project, Category.id],
    ).on_conflict_ignore()
    columns = [slot("project"), added.c.name, added.c.category_id, added.c.status]
    return (
        Pet.insert_from(Select([added], columns), list(_written()))
        .with_cte(turn, added, categories.returning(Category.id).cte("categories"))
        .returning(Pet.id)
    )


def _written() -> dict[Field, Value]:
    columns = (Pet.project, Pet.name, Pet.category_id, Pet.status)
    return {column: slot(column.name) for column in columns}
