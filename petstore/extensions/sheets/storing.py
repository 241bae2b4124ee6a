"""Storing what a file does to a project, in one transaction and few statements."""

from collections import defaultdict
from typing import Any

import peewee

from petstore import clock
from petstore.events import actor
from petstore.extensions.sheets.imports import FilePet, LinesAtFault, Preview, There
from petstore.extensions.sheets.lines import in_parts
from petstore.extensions.sheets.models import Import
from petstore.models.activity import SHOWN_FACTS, emit_after_commit
from petstore.models.categories import Category, comparable
from petstore.models.pets import Pet
from petstore.models.projects import Project, take_rows
from petstore.models.searching import searchable
from petstore.storage import db

SHOWN_FACTS["animals_imported"] = ("animals", "corrected")


def store(project: Project, preview: Preview, *, is_shown: bool = False) -> Preview:
    """Add and correct the animals of a file, and return what was done.

    The project may have changed since the preview was made. Raises `LinesAtFault` if
    that puts a line at fault, or if the file would do something else than somebody has
    been shown. Raises `ProjectFull`.
    """
    preview.require_no_fault()
    with db.atomic():
        # From here on no animal, order or category comes or goes.
        take_rows(project.id, 0)
        there, shown = There.of(project.id, preview.sheet), preview
        if there != preview.there:
            preview = Preview(preview.sheet, there)
            preview.require_no_fault()
        if is_shown and preview.digest != shown.digest:
            raise LinesAtFault([], [])
        take_rows(project.id, preview.rows)
        for categories in in_parts(preview.categories.items()):
            _add_categories(project.id, categories)
        for pets in in_parts(preview.added):
            _add_pets(project.id, pets)
        for pets in in_parts(preview.corrected):
            _correct_pets(project.id, pets)
        if added := len(preview.added):
            record = Import.record(project.id, added, preview.categories)
            preview.import_id = record.id
        if preview.changes:
            facts: Any = {"animals": added, "corrected": len(preview.corrected)}
            emit_after_commit("animals_imported", project=project.slug, **facts)
    return preview


def _add_categories(project_id: int, names: list[tuple[int, str | None]]) -> None:
    """Add categories by their numbers."""
    columns = (Category.project, Category.id, Category.name, Category.folded)
    rows = [(project_id, number, x, comparable(x or "")) for number, x in names]
    Category.insert_many(rows, columns).execute()


def _add_pets(project_id: int, pets: list[FilePet]) -> None:
    new = {"project": project_id, "added_ms": clock.now_ms(), "added_by": actor.get()}
    rows = [new | _folded(pet.members) for pet in pets]
    Pet.insert_many(rows).execute()


def _correct_pets(project_id: int, pets: list[FilePet]) -> None:
    """Change animals by their ids.

    All animals for which the same columns change share a statement, which saves round
    trips.
    """
    rows: dict[tuple[str, ...], list[tuple[Any, ...]]] = defaultdict(list)
    for pet in pets:
        names, values = zip(*sorted(_folded(pet.members).items()), strict=True)
        rows[names].append((pet.id, *values))
    for names, lines in rows.items():
        new = peewee.ValuesList(lines).cte("new", columns=["id", *names])
        columns = {name: getattr(new.c, name) for name in names}
        columns |= {"changed_ms": clock.now_ms(), "changed_by": actor.get()}
        # PostgreSQL would read all animals of the project to find those of `new`.
        is_one = Pet.id.in_([line[0] for line in lines]) & (Pet.id == new.c.id)
        found = Pet.update(columns).from_(new).with_cte(new)
        found.where(Pet.project == project_id, is_one).execute()


def _folded(members: dict[str, Any]) -> dict[str, Any]:
    """Return the members of an animal, with the name as searches have it."""
    folded = {"folded": searchable(members["name"])} if "name" in members else {}
    return members | folded
