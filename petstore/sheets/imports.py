"""Animals in a CSV file: all are added and corrected in one transaction, or none is."""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from marshmallow import ValidationError
from peewee import chunked

from petstore import timeouts
from petstore.events import emit_after_commit
from petstore.models.categories import Category, fold_name
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Project, take_rows
from petstore.schemas import faults_of
from petstore.sheets.lines import FIELDS, Fault, give_way, read_lines, restored
from petstore.storage import db


class FilePet(NamedTuple):
    """An animal of a file: a new one, or what a line says of the one with the id."""

    line: int
    category: str | None
    members: dict[str, Any]  # the others


class Sheet:
    """The animals of a file, and what is wrong with its lines.

    Read it before the transaction that adds them, since that takes a while. Raises
    `NotReadable`.
    """

    def __init__(self, content: bytes) -> None:
        self.faults: list[Fault] = []
        self.pets: list[FilePet] = []
        for number, cells in read_lines(content, self.faults):
            try:
                self.pets.append(_pet(number, cells))
            except ValidationError as error:
                self.faults.append(_fault(number, error))


class Import:
    """What a file does to a project, unless lines are at fault; raises `ProjectFull`.

    It is done at once, so that a transaction has to take it back.
    """

    def __init__(self, project_id: int, sheet: Sheet) -> None:
        self._project_id = project_id
        self.faults = [*sheet.faults]
        self._lines: dict[int, int] = {}  # by the ids of animals
        self._names: dict[Any, str | None] = {}  # of categories
        self._ids: dict[str, list[int]] = {}  # of categories, by folded names
        self.new_categories: list[str] = []
        self.added = self.corrected = 0
        # Others that add or delete rows of the project wait from here on.
        take_rows(project_id, sum("id" not in pet.members for pet in sheet.pets))
        self._add_numbers(sheet.pets)
        for pets in chunked(sheet.pets, timeouts.LIMITS.imported_rows):
            give_way()
            self._write(pets)
        self.faults.sort()

    def _add_numbers(self, pets: list[FilePet]) -> None:
        """Add the categories that have a number, of which new names take none."""
        names: dict[int, str | None] = {}
        for pet in pets:
            if (number := pet.members.get("category_id")) is not None:
                name = names.get(number) or pet.category
                names[number] = None if _is_number(name) else name
        for numbers in chunked(names, timeouts.LIMITS.imported_rows):
            give_way()
            self._names |= Category.known(self._project_id, numbers)
            new = {each: names[each] for each in numbers if each not in self._names}
            self._find_names(name for name in new.values() if name)
            for number, name in new.items():
                if name and self._ids.setdefault(fold_name(name), [number]) != [number]:
                    new[number] = None  # another category has the name
            Category.add_numbered(self._project_id, new)
            self._names |= new
            added = (name or f"Category {number}" for number, name in new.items())
            self.new_categories += added

    def _find_names(self, names: Iterable[str]) -> None:
        self._ids |= Category.ids_by_name(self._project_id, names)

    def _add_names(self, pets: list[FilePet]) -> None:
        """Find the categories that lines name, and add those that there are not."""
        names: dict[str, str] = {}
        for pet in pets:
            if pet.category and not _is_number(pet.category):
                names.setdefault(fold_name(pet.category), pet.category)
        self._find_names(name for each, name in names.items() if each not in self._ids)
        new = {each: name for each, name in names.items() if each not in self._ids}
        numbers = Category.add_many(self._project_id, [*new.values()])
        self._ids |= {each: [number] for each, number in zip(new, numbers, strict=True)}
        self.new_categories += new.values()

    def _write(self, pets: list[FilePet]) -> None:
        """Add and correct animals, but those at fault."""
        self._add_names(pets)
        ids = {pet.members["id"] for pet in pets if "id" in pet.members}
        there = Pet.with_ids(self._project_id, ids)
        orders = Order.open_of(self._project_id, there)
        numbers = {pet.category_id for pet in there.values()}
        self._names |= Category.names(self._project_id, numbers)
        added, corrected = [], {}
        for pet in pets:
            try:
                if "id" not in pet.members:
                    added.append(pet.members | self._category(pet, None))
                elif changes := self._changes(pet, there, orders):
                    corrected[pet.members["id"]] = changes
            except ValidationError as error:
                self.faults.append(_fault(pet.line, error))
        Pet.add_many(self._project_id, added)
        Pet.correct_many(self._project_id, corrected)
        self.added += len(added)
        self.corrected += len(corrected)

    def _changes(
        self, pet: FilePet, pets: dict[int, Pet], orders: dict[int, int]
    ) -> dict[str, Any]:
        """Return what a line says that differs from what is there."""
        pet_id = pet.members["id"]
        if (there := pets.get(pet_id)) is None:
            text = f"there is no animal {pet_id}; to add it, leave the column id out"
            raise ValidationError({"id": text})
        if (line := self._lines.setdefault(pet_id, pet.line)) != pet.line:
            raise ValidationError({"id": f"{pet_id} stands in line {line} already"})
        changes = {
            name: value
            for name, value in pet.members.items()
            if value != getattr(there, name)
        }
        if "status" in changes and pet_id in orders:
            order = f"the animal {pet_id} has the open order {orders[pet_id]}"
            raise ValidationError({"status": f"{order}: complete or cancel it first"})
        return changes | self._category(pet, there.category_id)

    def _category(self, pet: FilePet, current: int | None) -> dict[str, Any]:
        """Return the category that a line means, unless the animal has it."""
        number, name = pet.members.get("category_id"), pet.category
        meant = {number, self._named(name, number, current) if name else None}
        meant -= {None, current}
        if len(meant) > 1:
            known = self._names.get(number) or "otherwise"
            text = f"the category {number} is named {known}, not {name}"
            raise ValidationError({"categoryId": text})
        return {"category_id": meant.pop()} if meant else {}

    def _named(self, name: str, *likely: Any) -> int:
        """Return the category with a name, or the number; a new name adds one."""
        folded = fold_name(name)
        for number in likely:
            if fold_name(self._names.get(number) or "") == folded:
                return int(number)
        if _is_number(name):
            return int(name)
        first, *others = self._ids[folded]
        if others:
            both = " and ".join(map(str, (first, *others)))
            text = f"{both} are all named {name}; give the number"
            raise ValidationError({"category": text})
        return first


def import_animals(project: Project, sheet: Sheet, *, is_tried: bool = False) -> Import:
    """Do what a file says, unless it is tried or at fault; raises `ProjectFull`."""
    with db.atomic() as transaction:
        done = Import(project.id, sheet)
        if is_tried or done.faults:
            transaction.rollback()
        elif done.added or done.corrected:
            facts: dict[str, Any] = {"animals": done.added, "corrected": done.corrected}
            emit_after_commit("animals_imported", project=project.slug, **facts)
    return done


def _pet(number: int, cells: dict[str, str]) -> FilePet:
    texts = {
        head: restored(cell) if head == "name" else restored(cell).strip()
        for head, cell in cells.items()
        if cell.strip()
    }
    if "status" in texts:
        texts["status"] = texts["status"].lower()
    if "categoryId" not in texts and _is_number(texts.get("category")):
        texts["categoryId"] = texts.pop("category")
    is_missing = not {"categoryId", "category"} & texts.keys()
    has_number = "categoryId" in (cells if is_missing else texts)
    optional = {"category" if has_number else "category_id"}
    if "id" in texts:
        optional = {*FIELDS.fields} - ({"name"} & cells.keys())
    members: dict[str, Any] = FIELDS.load(texts, partial=optional)
    return FilePet(number, members.pop("category", None), members)


def _is_number(text: str | None) -> bool:
    return bool(re.fullmatch("[0-9]+", text or ""))


def _fault(line: int, error: ValidationError) -> Fault:
    faults = [f"{head}: {text}" for head, text in faults_of(error).items()]
    return Fault(line, "; ".join(faults))
