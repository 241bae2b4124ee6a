"""What imports have added, which can be taken back for a day."""

import json
from collections.abc import Iterable
from typing import Any, Self

import peewee
from peewee import SQL, fn

from petstore import clock, timeouts
from petstore.concurrency import give_way
from petstore.events import actor
from petstore.extensions.sheets.lines import in_parts
from petstore.models import NotFound, OfProject, Retention, retentions
from petstore.models.categories import Category
from petstore.models.pets import Pet
from petstore.models.projects import Project, take_rows
from petstore.storage import BaseModel, db

KEPT_MS = clock.MS_PER_DAY
MOST_LISTED = 50


class Import(OfProject, BaseModel):
    """An import of a project.

    Nobody else adds animals to a project during an import, so the ids of its animals
    follow each other in the project. Those of other projects lie between them.
    """

    noun = "import"

    project_id: int
    id = peewee.BigAutoField()
    # An earlier version, which does not know this table, deletes projects too.
    project = peewee.ForeignKeyField(Project, index=False, on_delete="CASCADE")
    at_ms = peewee.BigIntegerField(index=True)
    actor = peewee.TextField()  # as in `petstore.events.actor`
    added = peewee.BigIntegerField()  # animals
    first_id = peewee.BigIntegerField()
    last_id = peewee.BigIntegerField()
    categories: Any = peewee.TextField()  # the numbers of new ones, as JSON
    removed = peewee.BigIntegerField(constraints=[SQL("DEFAULT 0")])  # of the animals

    class Meta:
        indexes = ((("project", "id"), False),)

    @classmethod
    def record(cls, project_id: int, added: int, categories: Iterable[int]) -> Self:
        """Store what was added last, in the transaction that has added it."""
        pets = Pet.select(Pet.id).where(Pet.project == project_id)
        newest = pets.order_by(Pet.id.desc()).limit(1)
        new = {"at_ms": clock.now_ms(), "actor": actor.get(), "removed": 0}
        new |= {"added": added, "categories": json.dumps([*categories])}
        new |= {"first_id": newest.offset(added - 1).scalar()}
        return cls.create(project=project_id, last_id=newest.scalar(), **new)

    @classmethod
    def recent(cls, project_id: int, *filters: peewee.Expression) -> list[Self]:
        """Return the imports of the last day, newest first."""
        is_recent = cls.at_ms > clock.now_ms() - KEPT_MS
        found = cls.select().where(cls.project == project_id, is_recent, *filters)
        return list(found.order_by(cls.id.desc()).limit(MOST_LISTED))

    @classmethod
    def get_recent(cls, project_id: int, import_id: int) -> Self:
        """Return an import of the last day; raises `NotFound`."""
        for found in cls.recent(project_id, cls.id == import_id):
            return found
        raise NotFound(cls.noun, import_id)

    def take_back(self) -> None:
        """Remove what it has added, in parts, as far as nobody has changed it."""
        last: int | None = self.first_id - 1
        while last is not None:
            last = self.remove_some(last)
            give_way()
        for ids in in_parts(json.loads(self.categories)):
            self._remove_categories(ids)

    def remove_some(self, after: int) -> int | None:
        """Remove animals that are as they were added, of the next ones behind an id.

        Return the last id that was looked at, or None if there are no more.
        """
        project_id = self.project_id
        with db.atomic():
            take_rows(project_id, 0)  # nobody orders or corrects one meanwhile
            few = self._pets(Pet.id).where(Pet.id > after).order_by(Pet.id)
            ids = [pet.id for pet in few.limit(timeouts.LIMITS.deleted_rows)]
            if not ids:
                return None
            found = Pet.delete().where(Pet.id.in_(ids), Pet.writes == 0)
            removed = found.execute()
            take_rows(project_id, -removed)
            counted = Import.update(removed=Import.removed + removed)
            counted.where(Import.id == self.id).execute()
        return int(ids[-1])

    def _remove_categories(self, ids: list[int]) -> None:
        """Delete those of the categories that no animal has."""
        project_id = self.project_id
        with db.atomic():
            take_rows(project_id, 0)  # no animal gets one meanwhile
            is_of_it = Pet.category_id == Category.id
            pets = Pet.select(SQL("1")).where(Pet.project == project_id, is_of_it)
            few = (Category.project == project_id) & Category.id.in_(ids)
            removed = Category.delete().where(few, ~fn.EXISTS(pets)).execute()
            take_rows(project_id, -removed)

    def count_left(self) -> int:
        """Return how many of its animals are there."""
        return int(self._pets(fn.COUNT(Pet.id)).scalar())

    def _pets(self, *columns: Any) -> Any:
        is_between = Pet.id.between(self.first_id, self.last_id)
        return Pet.select(*columns).where(Pet.project == self.project_id, is_between)


retentions.append(Retention(Import, Import.at_ms, KEPT_MS))


def names_by(column: Any, values: Iterable[Any], project_id: int) -> dict[int, Any]:
    """Return the names, by id, of the categories whose column has such a value."""
    is_one = (Category.project == project_id) & column.in_([*values])
    named = Category.select(Category.id, Category.name).where(is_one)
    return dict(named.tuples().iterator())
