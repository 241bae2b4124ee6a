"""Animals for adoption (specification section 2)."""

from typing import NamedTuple, Self
from weakref import WeakValueDictionary

import orjson
from peewee import BigAutoField, BigIntegerField, ForeignKeyField, Query, TextField

from petstore.batches import Batch
from petstore.database import BaseModel, data, is_sqlite
from petstore.models import Conflict, Refused
from petstore.models.categories import Category, CategoryTable
from petstore.models.paging import page_statement
from petstore.models.projects import Project
from petstore.statements import slot, statement

STATUSES = ("available", "pending", "sold")


class NoSuchPet(Refused):
    """The project has no animal with that id."""

    def __init__(self, pet_id: int) -> None:
        super().__init__(f"There is no animal {pet_id}.")


class PetNotAvailable(Conflict):
    """The animal is pending or sold."""

    def __init__(self, pet_id: int) -> None:
        super().__init__(f"The animal {pet_id} is not available.")


class Pet(NamedTuple):
    """An animal of a project."""

    id: int
    name: str
    category_id: int
    status: str

    @classmethod
    def add(cls, project_id: int, name: str, category_id: int, status: str) -> Self:
        """Add an animal, and its category if no animal has named it before.

        The animals of a project are committed in the order of their ids. A client that
        reads on from the last id it has seen therefore misses none.
        """
        insert = _insert_on_sqlite if is_sqlite(data.obj) else _insert_on_postgresql
        pet_id = insert(project_id, name, category_id, status)
        return cls(pet_id, name, category_id, status)

    @classmethod
    def find(cls, project_id: int, pet_id: int) -> Self:
        """Return one animal of the project; raises `NoSuchPet`."""
        for row in _select_one(project=project_id, id=pet_id):
            return cls(*row)
        raise NoSuchPet(pet_id)

    @classmethod
    def page(
        cls, project_id: int, *, after: int, limit: int, status: str | None
    ) -> list[Self]:
        """Return animals of the project by ascending id, after the id `after`."""
        select = _select_page if status is None else _select_page_of_status
        rows = select(project=project_id, after=after, status=status, limit=limit)
        return list(map(cls._make, rows))

    @staticmethod
    def names(project_id: int, ids: set[int]) -> dict[int, str]:
        """Return the names of the project's animals with these ids, by id."""
        rows = PetTable.select(PetTable.id, PetTable.name).where(
            PetTable.project == project_id, PetTable.id.in_(ids)
        )
        return {row.id: row.name for row in rows}

    @staticmethod
    def move(project_id: int, pet_id: int, before: str, after: str) -> bool:
        """Change the status of an animal; False if it does not have the one before."""
        update = PetTable.update(status=after).where(
            PetTable.project == project_id,
            PetTable.id == pet_id,
            PetTable.status == before,
        )
        return bool(update.execute())


class PetTable(BaseModel):
    """The animals of all projects."""

    id = BigAutoField()
    project = ForeignKeyField(Project, index=False)
    name = TextField()
    category_id = BigIntegerField()
    status = TextField()

    class Meta:
        table_name = "pet"
        indexes = (
            (("project", "id"), False),
            (("project", "status", "id"), False),
        )


_COLUMNS = (PetTable.id, PetTable.name, PetTable.category_id, PetTable.status)

_select_page = page_statement(PetTable.id, _COLUMNS)
_select_page_of_status = page_statement(PetTable.id, _COLUMNS, PetTable.status)


@statement(data)
def _select_one() -> Query:
    return PetTable.select(*_COLUMNS).where(
        PetTable.project == slot("project"),
        PetTable.id == slot("id"),
    )


def _insert_on_sqlite(project_id: int, name: str, category_id: int, status: str) -> int:
    values = {
        "project": project_id,
        "name": name,
        "category_id": category_id,
        "status": status,
    }
    with data.writing(project_id):
        rows = _insert_if_category_exists(**values)
        if not rows:
            Category.ensure(project_id, category_id)
            rows = _insert_if_category_exists(**values)
    pet_id: int = rows[0][0]
    return pet_id


@statement(data)
def _insert_if_category_exists() -> Query:
    columns = (PetTable.project, PetTable.name, PetTable.category_id, PetTable.status)
    category = CategoryTable.select(*(slot(column.name) for column in columns)).where(
        CategoryTable.project == slot("project"),
        CategoryTable.id == slot("category_id"),
    )
    return PetTable.insert_from(category, columns).returning(PetTable.id)


class _NewPet(NamedTuple):
    project_id: int
    name: str
    category_id: int
    status: str


def _insert_on_postgresql(
    project_id: int, name: str, category_id: int, status: str
) -> int:
    animal = _NewPet(project_id, name, category_id, status)
    if data.in_transaction():
        return _insert_all([animal])[0]
    batch = _batches.get(project_id)
    if batch is None:
        batch = _batches[project_id] = Batch(_insert_all)
    return batch.run(animal)


# Animals that are added to a project at the same time share a transaction.
_batches: WeakValueDictionary[int, Batch[_NewPet, int]] = WeakValueDictionary()


def _insert_all(animals: list[_NewPet]) -> list[int]:
    values = {
        "project": animals[0].project_id,
        "animals": orjson.dumps([animal._asdict() for animal in animals]).decode(),
        "deadline": data.deadline(),
    }
    rows = data.execute_before_deadline(_INSERT_ALL, values).fetchall()
    return sorted(pet_id for (pet_id,) in rows)


# The lock, the categories and the animals in one round trip. The rows are selected from
# the lock, so that the ids are drawn, in order, when the lock is held. After the
# deadline nothing is selected, so nothing is inserted.
_INSERT_ALL = """
WITH "turn" AS (
    SELECT pg_advisory_xact_lock(%(project)s)
), "added" AS (
    SELECT "animal".*
    FROM "turn", json_to_recordset(%(animals)s)
        AS "animal" ("name" text, "category_id" bigint, "status" text)
    WHERE clock_timestamp() < to_timestamp(%(deadline)s)
), "categories" AS (
    INSERT INTO "category" ("project_id", "id")
    SELECT DISTINCT %(project)s, "category_id" FROM "added"
    ON CONFLICT DO NOTHING
)
INSERT INTO "pet" ("project_id", "name", "category_id", "status")
SELECT %(project)s, "name", "category_id", "status" FROM "added"
RETURNING "id"
"""
