"""Animals in a CSV file: all are added in one transaction, or none is."""

import csv
import io
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from marshmallow import ValidationError
from peewee import chunked

from petstore import timeouts
from petstore.events import emit_after_commit
from petstore.models import RuleError
from petstore.models.categories import Category
from petstore.models.pets import Pet
from petstore.models.projects import Project, take_rows
from petstore.schemas import faults_of
from petstore.schemas.fields import Name
from petstore.schemas.pets import NamedPetSchema, NumberedPetSchema
from petstore.sheets.cells import restored
from petstore.storage import db, renew_deadline

AFTER_QUOTE = "there is text after a closing quotation mark"
NAMED, NUMBERED = NamedPetSchema(), NumberedPetSchema()
HEADS = {each.data_key or name: each for name, each in NUMBERED.fields.items()}


class NotReadable(RuleError):
    """The file is no CSV file with animals."""

    text = "{}."


class Fault(NamedTuple):
    """What is wrong with a line; the line with the heads is the first."""

    line: int
    text: str

    def __str__(self) -> str:
        """Name the line."""
        return f"Line {self.line}: {self.text}"


class LinesAtFault(Exception):
    """Some lines are at fault, so nothing was added."""

    def __init__(self, faults: list[Fault]) -> None:
        self.faults = sorted(faults)
        super().__init__(f"{len(faults)} lines are at fault")


class Line(NamedTuple):
    """A line of a file: its number, and its cells by their heads."""

    number: int
    cells: dict[str, str]


class ImportedPet(NamedTuple):
    """An animal of a file, whose category has a number, a name, or both."""

    line: int
    category_id: int | None
    category: str | None
    members: dict[str, Any]  # the others


def import_animals(project: Project, sheet: "Sheet") -> int:
    """Add the animals of a file to the project; return how many.

    Raises `LinesAtFault` and `ProjectFull`, and then adds nothing.
    """
    pets, faults = sheet.pets, sheet.faults
    with db.atomic():
        take_rows(project.id, len(pets))
        categories = _Categories(project.id, pets)
        faults += filter(None, map(categories.fault_of, pets))
        if faults:
            raise LinesAtFault(faults)
        for some in chunked(pets, timeouts.LIMITS.imported_rows):
            Pet.add_many(
                project.id,
                [
                    pet.members | {"category_id": categories.number_of(pet)}
                    for pet in some
                ],
            )
            time.sleep(0)  # the requests that wait have their turn
            renew_deadline()
        if pets:
            facts: dict[str, Any] = {"project": project.slug, "animals": len(pets)}
            emit_after_commit("animals_imported", **facts)
    return len(pets)


class Sheet:
    """The animals of a file, and what is wrong with its lines.

    Read it before the transaction that adds them, since that takes a while. Raises
    `NotReadable`.
    """

    def __init__(self, content: bytes) -> None:
        self.pets: list[ImportedPet] = []
        self.faults: list[Fault] = []
        for count, line in enumerate(self._lines(_decoded(content))):
            if count % timeouts.LIMITS.imported_rows == 0:
                time.sleep(0)  # the requests that wait have their turn
            self._load(line)
        renew_deadline()

    def _lines(self, text: str) -> Iterator[Line]:
        reader, heads = _open(text)
        while (number := reader.line_num + 1) <= timeouts.LIMITS.import_lines:
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                self.faults.append(Fault(number, _csv_fault(error)))
                return
            if len(cells) > len(heads) and any(cells[len(heads) :]):
                fault = f"has {len(cells)} cells, but the first line has {len(heads)}"
                self.faults.append(Fault(number, fault))
            elif any(map(str.strip, cells)):
                found = dict(zip(heads, cells, strict=False))
                known = [head for head in HEADS if head in heads]
                yield Line(number, {head: found.get(head, "") for head in known})
        raise NotReadable(f"The file has more than {number - 1:,} lines")

    def _load(self, line: Line) -> None:
        texts = {head: restored(cell) for head, cell in line.cells.items()}
        members = {
            head: text if isinstance(HEADS[head], Name) else text.strip()
            for head, text in texts.items()
            if text.strip()
        }
        try:
            pet = _pet(members, has_numbers="categoryId" in line.cells)
        except ValidationError as error:
            faults = [f"{name}: {fault}" for name, fault in faults_of(error).items()]
            self.faults.append(Fault(line.number, "; ".join(faults)))
        else:
            category = pet.pop("category_id"), pet.pop("category")
            self.pets.append(ImportedPet(line.number, *category, pet))


class _Categories:
    """The categories that animals name; those that do not exist are added."""

    def __init__(self, project_id: int, pets: list[ImportedPet]) -> None:
        self._names: dict[int, str | None] = {}  # of those that have a number in lines
        self._ids: dict[str, list[int]] = {}  # of names without a number
        for pet in pets:
            if pet.category_id is not None:
                known = self._names.get(pet.category_id)
                self._names[pet.category_id] = known or pet.category
        # Numbers come first: a new name must take no number that a later line has.
        for number, name in self._names.items():
            if category := Category.find(project_id, number):
                self._names[number] = category.name
            else:
                Category.ensure(project_id, number, name)
        for name in {
            pet.category or "": None for pet in pets if pet.category_id is None
        }:
            self._ids[name] = Category.ids_named(project_id, name) or [
                Category.named(project_id, name)
            ]

    def number_of(self, pet: ImportedPet) -> int:
        """Return the number of its category."""
        if pet.category_id is None:
            return self._ids[pet.category or ""][0]
        return pet.category_id

    def fault_of(self, pet: ImportedPet) -> Fault | None:
        """Return what is wrong with a name that two categories have, or another has."""
        if pet.category_id is None:
            ids = self._ids[pet.category or ""]
            if len(ids) == 1:
                return None
            both = " and ".join(map(str, ids))
            text = f"category: {both} are both named {pet.category}; give the number"
            return Fault(pet.line, text)
        known = self._names[pet.category_id]
        if not (pet.category and known) or pet.category == known:
            return None
        text = f"the category {pet.category_id} is named {known}, not {pet.category}"
        return Fault(pet.line, f"categoryId: {text}")


def _decoded(content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        lines = content[: error.start + 1].splitlines()
        raise NotReadable(f"The file is not UTF-8 in line {len(lines)}") from None
    if "\0" in text:
        raise NotReadable("The file contains NUL, so it is no text")
    if not text.strip():
        raise NotReadable("The file is empty")
    return text


def _open(text: str) -> tuple[Any, list[str]]:
    """Return a reader of the lines after the first, and the heads that this contains.

    They are separated by commas, or by semicolons if that makes one of them `name`.
    """
    for delimiter in ",;":
        reader = csv.reader(
            io.StringIO(text, newline=""), delimiter=delimiter, strict=True
        )
        if "name" in (heads := _read_heads(reader)):
            _check_heads(heads)
            return reader, heads
    raise NotReadable("Line 1: there is no column name")


def _read_heads(reader: Any) -> list[str]:
    try:
        return [head.strip() for head in next(reader)]
    except csv.Error as error:
        if (fault := _csv_fault(error)) == AFTER_QUOTE:
            return []  # in quotation marks, with another delimiter between them
        raise NotReadable(f"Line 1: {fault}") from None


def _check_heads(heads: list[str]) -> None:
    for head in HEADS:
        if heads.count(head) > 1:
            raise NotReadable(f"Line 1: there are two columns {head}")
    if not {"categoryId", "category"} & set(heads):
        raise NotReadable("Line 1: there is no column categoryId or category")


def _pet(members: dict[str, str], *, has_numbers: bool) -> dict[str, Any]:
    category = members.get("category", "")
    digits = category.strip()
    if "categoryId" not in members and digits.isascii() and digits.isdecimal():
        members["categoryId"] = digits
        del members["category"]
    needs_number = "categoryId" in members or (has_numbers and not category)
    loaded: dict[str, Any] = (NUMBERED if needs_number else NAMED).load(members)
    return loaded


def _csv_fault(error: csv.Error) -> str:
    if "expected after" in str(error):
        return AFTER_QUOTE
    fault = "a quotation mark is not closed"
    if str(error).startswith("field larger"):
        fault += f", or a cell has more than {csv.field_size_limit():,} characters"
    return fault
