"""Animals of an imported file: accepted all at once, and then added in parts.

A file is accepted in one short transaction. From its commit on, all of its animals will
be added; before, none is. Each part is then added, and deleted, in a transaction of its
own, so that others write between two of them, however long the file is. If the process
ends meanwhile, another one goes on.
"""

import json
import time
from collections.abc import Iterable
from contextlib import closing, suppress
from typing import Any, NamedTuple

import peewee
from peewee import BigAutoField, ForeignKeyField, Query, TextField

from petstore import timeouts
from petstore.concurrency import start
from petstore.events import emit_after_commit
from petstore.models import RuleError
from petstore.models.categories import Category
from petstore.models.pets import Pet
from petstore.models.projects import Project
from petstore.models.row_limits import row_limits
from petstore.models.stored_responses import Attempt, StoredResponse
from petstore.storage import BaseModel, db, slot, statement

# In place of the path of a request: the same file is not imported twice in a day.
PATH = "import"
DONE = 200

# Of the numbers and names of categories that parts have named before.
CategoryIds = dict[tuple[int | None, str | None], int]


class AlreadyImported(RuleError):
    """The same file was imported in the last 24 hours."""

    text = (
        "This file was already imported in the last 24 hours, so nothing was added "
        "again."
    )


class ImportedPet(NamedTuple):
    """An animal of a file, whose category has a number, a name, or both.

    Without a name it stands for its category alone.
    """

    name: str | None
    category_id: int | None
    category: str | None
    status: str = "available"


class ImportedPart(BaseModel):
    """Some animals of an accepted file that have not been added yet."""

    id = BigAutoField()
    # An earlier version, which does not know this table, deletes projects too.
    project = ForeignKeyField(Project, index=False, on_delete="CASCADE")
    animals = TextField()  # as JSON

    class Meta:
        indexes = ((("project", "id"), False),)


def part_of(animals: list[ImportedPet]) -> str:
    """Return what `accept` takes for some animals; keep them few."""
    return json.dumps(animals, ensure_ascii=False, separators=(",", ":"))


def require_new(project_id: int, digest: bytes) -> None:
    """Raise `AlreadyImported` for a file with that digest, when it is all added."""
    if StoredResponse.find(_attempt(project_id, digest)):
        _refuse(project_id)


def accept(project: Project, digest: bytes, parts: Iterable[str], count: int) -> None:
    """Accept a file with so many animals, and add them; raises `AlreadyImported`.

    Each process that calls `finish_regularly` adds them too if this one cannot.
    """
    attempt = _attempt(project.id, digest)
    with db.atomic():
        if StoredResponse.find_locked(attempt):
            is_new = False
        else:
            is_new = True
            StoredResponse.keep(attempt, DONE, None, b"")
            _insert.run_many({"project": project.id, "animals": part} for part in parts)
            Project.update(rows_counted_ms=None).where(
                Project.id == project.id
            ).execute()
            facts: dict[str, Any] = {"project": project.slug, "animals": count}
            emit_after_commit("animals_imported", **facts)
    if not is_new:
        _refuse(project.id)
    finish(project.id)


def finish(project_id: int) -> None:
    """Add all animals of the project that were accepted before."""
    if not _select_first(project=project_id):
        return
    ids: CategoryIds = {}
    while _add_part(project_id, ids):
        time.sleep(timeouts.LIMITS.import_pause_seconds)
    row_limits.count_soon(project_id)


def finish_any() -> bool:
    """Finish the imports of one project, if a process has left one unfinished.

    Return whether there was one.
    """
    for (project_id,) in _select_any():
        finish(project_id)
        return True
    return False


def begin() -> None:
    """Finish imports of processes that have ended, from time to time."""
    start(_finish_regularly)


def _finish_regularly() -> None:
    while True:
        with suppress(peewee.DatabaseError), closing(db):
            while finish_any():
                pass
        time.sleep(timeouts.LIMITS.import_seconds)


def _attempt(project_id: int, digest: bytes) -> Attempt:
    return Attempt(project_id, PATH, digest.hex(), digest)


def _refuse(project_id: int) -> None:
    finish(project_id)
    raise AlreadyImported


def _add_part(project_id: int, ids: CategoryIds) -> bool:
    """Add the animals of the first part; return whether there was one."""
    with db.atomic():
        # So animals are committed in the order of their ids, and parts are added once.
        db.lock_until_commit(project_id)
        for part_id, animals in _select_first(project=project_id):
            pets = [ImportedPet(*each) for each in json.loads(animals)]
            _add_animals(project_id, pets, ids)
            _delete(id=part_id)
            return True
    return False


def _add_animals(project_id: int, pets: list[ImportedPet], ids: CategoryIds) -> None:
    for pet in pets:
        category = pet.category_id, pet.category
        if category not in ids:
            ids[category] = _category(project_id, *category)
    Pet.add_many(
        project_id,
        [
            (pet.name, ids[pet.category_id, pet.category], pet.status)
            for pet in pets
            if pet.name is not None
        ],
    )


def _category(project_id: int, category_id: int | None, name: str | None) -> int:
    if category_id is None:
        return Category.named(project_id, name or "")
    Category.ensure(project_id, category_id, name)
    return category_id


@statement(db)
def _insert() -> Query:
    return ImportedPart.insert(project=slot("project"), animals=slot("animals"))


@statement(db)
def _select_first() -> Query:
    equal = ((ImportedPart.project, slot("project")),)
    return (
        ImportedPart.select(ImportedPart.id, ImportedPart.animals)
        .where(db.along_index(equal, ImportedPart.id >= 0))
        .order_by(*db.order_along_index(equal, (ImportedPart.id,)))
        .limit(1)
    )


@statement(db)
def _select_any() -> Query:
    return ImportedPart.select(ImportedPart.project).order_by(ImportedPart.id).limit(1)


@statement(db)
def _delete() -> Query:
    return ImportedPart.delete().where(ImportedPart.id == slot("id"))
