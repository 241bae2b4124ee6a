"""Storing what a file does to a project, in one transaction and few statements."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import peewee
from peewee import fn

from petstore import clock
from petstore.events import EVENT_TYPES, EventType, actor, emit_after_commit
from petstore.extensions.sheets.imports import LinesAtFault, Preview, There
from petstore.extensions.sheets.lines import in_parts
from petstore.extensions.sheets.models import Import
from petstore.models.categories import MAX_NEW_ID, Category, comparable
from petstore.models.pets import Pet
from petstore.models.projects import Project, take_rows
from petstore.models.searching import searchable
from petstore.storage import db

EVENT_TYPES["animals_imported"] = EventType(
    "Animals imported", ("animals", "corrected")
)


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
        if (there := There.of(project.id, preview.sheet)) != preview.there:
            shown, preview = preview, Preview(preview.sheet, there)
            preview.require_no_fault()
            if is_shown and preview.digest != shown.digest:
                raise LinesAtFault([], [])
        take_rows(project.id, preview.rows)
        categories = _write(project.id, preview)
        if preview.added:
            preview.record = Import.record(project.id, len(preview.added), categories)
        facts: dict[str, Any] = {"animals": len(preview.added)}
        facts["corrected"] = len(preview.corrected)
        if any(facts.values()):
            emit_after_commit("animals_imported", project=project.slug, **facts)
    return preview


def _write(project_id: int, preview: Preview) -> list[int]:
    """Add and correct the animals, and return the numbers of new categories."""
    numbers: dict[Any, int] = {}  # of new categories

    def numbered(members: dict[str, Any]) -> dict[str, Any]:
        number = numbers.get(members.get("category_id"))
        return members if number is None else members | {"category_id": number}

    for categories in in_parts(preview.numbered.items()):
        _add_numbered(project_id, dict(categories))
    for keys in in_parts(preview.named):
        names = [preview.named[each] for each in keys]
        new = _add_named(project_id, names)
        numbers |= zip(keys, new, strict=True)
    for pets in in_parts(preview.added):
        added = ({"category_id": meant, **pet.members} for pet, meant in pets)
        _add_pets(project_id, map(numbered, added))
    for corrected in in_parts(preview.corrected.items()):
        changes = {pet_id: numbered(members) for pet_id, members in corrected}
        _correct_pets(project_id, changes)
    return [*preview.numbered, *numbers.values()]


def _add_numbered(project_id: int, names: Mapping[int, str | None]) -> None:
    """Add categories by their numbers."""
    columns = (Category.project, Category.id, Category.name, Category.folded)
    rows = [(project_id, x, y, comparable(y or "")) for x, y in names.items()]
    Category.insert_many(rows, columns).execute()


def _add_named(project_id: int, names: list[str]) -> list[int]:
    """Add categories with the next numbers, and return these."""
    last = Category.select(fn.MAX(Category.id)).where(
        Category.project == project_id, Category.id <= MAX_NEW_ID
    )
    first = (last.scalar() or 0) + 1
    if first + len(names) > MAX_NEW_ID:  # lower numbers are free
        return [Category.add_next(project_id, name) for name in names]
    numbered = dict(enumerate(names, first))
    _add_numbered(project_id, numbered)
    return [*numbered]


def _add_pets(project_id: int, pets: Iterable[dict[str, Any]]) -> None:
    new = {"project": project_id, "added_ms": clock.now_ms(), "added_by": actor.get()}
    rows = [new | {"folded": searchable(pet["name"])} | pet for pet in pets]
    Pet.insert_many(rows).execute()


def _correct_pets(project_id: int, changes: dict[int, dict[str, Any]]) -> None:
    """Change animals by their ids.

    All animals for which the same columns change share a statement, which saves round
    trips.
    """
    rows: dict[tuple[str, ...], list[tuple[Any, ...]]] = defaultdict(list)
    for pet_id, each in changes.items():
        folded = {"folded": searchable(each["name"])} if "name" in each else {}
        names, values = zip(*sorted((each | folded).items()), strict=True)
        rows[names].append((pet_id, *values))
    for names, lines in rows.items():
        new = peewee.ValuesList(lines).cte("new", columns=["id", *names])
        columns = {name: getattr(new.c, name) for name in names}
        columns |= {"changed_ms": clock.now_ms(), "changed_by": actor.get()}
        # PostgreSQL would read all animals of the project to find those of `new`.
        is_one = Pet.id.in_([line[0] for line in lines]) & (Pet.id == new.c.id)
        found = Pet.update(columns).from_(new).with_cte(new)
        found.where(Pet.project == project_id, is_one).execute()
