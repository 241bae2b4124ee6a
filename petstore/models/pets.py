"""Animals for adoption."""

from typing import NamedTuple

from peewee import BigAutoField, BigIntegerField, ForeignKeyField, Query, TextField

from petstore.database import BaseModel, data
from petstore.models.categories import Category
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
        with data.atomic():
            data.lock_until_commit(project_id)
            Category.ensure(project_id, category_id)
            [(pet_id,)] = _insert(
                project=project_id, name=name, category_id=category_id, status=status
            )
        return PetRow(pet_id, name, category_id, status)

    @classmethod
    def find(cls, project_id: int, pet_id: int) -> PetRow | None:
        """One animal of the project."""
        for row in _one(project=project_id, id=pet_id):
            return PetRow(*row)
        return None

    @classmethod
    def page(
        cls, project_id: int, *, after: int, limit: int, status: str | None
    ) -> list[PetRow]:
        """Animals of the project by ascending id, from the first beyond `after` on."""
        page = _page if status is None else _page_by_status
        rows = page(project=project_id, after=after, status=status, limit=limit)
        return [PetRow(*row) for row in rows]


def _rows() -> Query:
    return Pet.select(Pet.id, Pet.name, Pet.category_id, Pet.status).where(
        Pet.project == slot("project")
    )


@statement(data)
def _one() -> Query:
    return _rows().where(Pet.id == slot("id"))


@statement(data)
def _page() -> Query:
    return _rows().where(Pet.id > slot("after")).order_by(Pet.id).limit(slot("limit"))


@statement(data)
def _page_by_status() -> Query:
    return (
        _rows()
        .where(Pet.status == slot("status"), Pet.id > slot("after"))
        .order_by(Pet.id)
        .limit(slot("limit"))
    )


@statement(data)
def _insert() -> Query:
    return Pet.insert(
        project=slot("project"),
        name=slot("name"),
        category_id=slot("category_id"),
        status=slot("status"),
    ).returning(Pet.id)
