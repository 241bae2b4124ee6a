"""Animals in a CSV file: each line is checked, then all are added or none is."""

import csv
import io
import time
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, NamedTuple

from marshmallow import ValidationError
from peewee import chunked

from petstore import timeouts
from petstore.models import RuleError, imports
from petstore.models.categories import Category
from petstore.models.imports import ImportedPet
from petstore.models.projects import Project
from petstore.models.row_limits import row_limits
from petstore.schemas.loading import load
from petstore.schemas.pets import NamedPetSchema, NumberedPetSchema
from petstore.sheets.cells import restored

HEADS = ("name", "categoryId", "category", "status")
TEXTS = ("name", "category")
AFTER_QUOTE = "there is text after a closing quotation mark"
NAMED, NUMBERED = NamedPetSchema(), NumberedPetSchema()


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


def import_animals(project: Project, content: bytes) -> int:
    """Add the animals of a file to the project; return how many.

    Raises `NotReadable`, `LinesAtFault`, `AlreadyImported` and `ProjectFull`, and then
    adds nothing.
    """
    digest = sha256(content).digest()
    imports.require_new(project.id, digest)
    imports.finish(project.id)  # what another process has left changes what is known
    sheet = Sheet(project.id)
    sheet.read(content)
    row_limits.require_room_for(project, sheet.animals + sheet.categories.count)
    if sheet.animals:
        imports.accept(project, digest, sheet.parts, sheet.animals)
    return sheet.animals


class Sheet:
    """The animals of a file, as far as it was read."""

    def __init__(self, project_id: int) -> None:
        self.animals = 0
        self.parts: list[str] = []
        self.categories = Categories(project_id)
        self._faults: list[Fault] = []

    def read(self, content: bytes) -> None:
        """Read all lines; raises `NotReadable` and `LinesAtFault`."""
        lines = self._lines(_decoded(content))
        for some in chunked(lines, timeouts.LIMITS.imported_rows):
            part = [pet for line in some if (pet := self._load(line))]
            self.animals += len(part)
            self.parts.append(imports.part_of(part))
            time.sleep(0)  # the requests that wait have their turn
        self._faults += self.categories.end()
        if self._faults:
            raise LinesAtFault(self._faults)
        # They come first: a new name must take no number that a later line has.
        self.parts[:0] = [
            imports.part_of([ImportedPet(None, *category) for category in some])
            for some in chunked(
                self.categories.numbered(), timeouts.LIMITS.imported_rows
            )
        ]

    def _lines(self, text: str) -> Iterator[Line]:
        reader, heads = _open(text)
        while True:
            number = reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                self._faults.append(Fault(number, _csv_fault(error)))
                return
            if len(cells) > len(heads) and any(cells[len(heads) :]):
                fault = f"has {len(cells)} cells, but the first line has {len(heads)}"
                self._faults.append(Fault(number, fault))
            elif any(map(str.strip, cells)):
                found = dict(zip(heads, cells, strict=False))
                known = [head for head in HEADS if head in heads]
                yield Line(number, {head: found.get(head, "") for head in known})

    def _load(self, line: Line) -> ImportedPet | None:
        members = {
            head: restored(cell) if head in TEXTS else cell.strip()
            for head, cell in line.cells.items()
            if cell.strip()
        }
        try:
            pet = _pet(members, has_numbers="categoryId" in line.cells)
            self.categories.add(line.number, pet)
        except ValidationError as error:
            faults = [
                f"{name}: {', '.join(texts)}"
                for name, texts in error.messages_dict.items()
            ]
            self._faults.append(Fault(line.number, "; ".join(faults)))
            return None
        return pet


class Categories:
    """The categories of a project that lines have named, and those that they add."""

    def __init__(self, project_id: int) -> None:
        self._project_id = project_id
        self._names: dict[int, str | None] = {}  # of those that have a number in lines
        self._new: dict[int, None] = {}  # the numbers that do not exist, in order
        self._ids: dict[str, list[int]] = {}  # of names without a number
        self._lines: dict[str, list[int]] = {}  # that have such a name

    def add(self, line: int, pet: ImportedPet) -> None:
        """Note what a line names; raises `ValidationError` if it is something else."""
        if pet.category_id is None:
            self._add_name(line, pet.category or "")
        else:
            self._add_number(pet.category_id, pet.category)

    def end(self) -> Iterator[Fault]:
        """Yield each line with a name that two categories have, in the file too."""
        for number, name in self.numbered():
            if name in self._ids:
                self._ids[name].append(number)
        for name, ids in self._ids.items():
            if len(ids) > 1:
                both = " and ".join(map(str, sorted(ids)[:2]))
                text = f"category: {both} are both named {name}; give the number"
                yield from (Fault(line, text) for line in self._lines[name])

    @property
    def count(self) -> int:
        """How many categories the lines add; read it after `end`."""
        return len(self._new) + sum(not ids for ids in self._ids.values())

    def numbered(self) -> Iterator[tuple[int, str | None]]:
        """Yield the numbers and names of the new categories that have a number."""
        return ((number, self._names[number]) for number in self._new)

    def _add_name(self, line: int, name: str) -> None:
        if name not in self._ids:
            self._ids[name] = Category.ids_named(self._project_id, name)
        self._lines.setdefault(name, []).append(line)

    def _add_number(self, number: int, name: str | None) -> None:
        if number not in self._names:
            category = Category.find(self._project_id, number)
            self._names[number] = category.name if category else name
            if not category:
                self._new[number] = None
        elif number in self._new and self._names[number] is None:
            self._names[number] = name
        known = self._names[number]
        if name and known and name != known:
            fault = f"the category {number} is named {known}, not {name}"
            raise ValidationError({"categoryId": [fault]})


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


def _pet(members: dict[str, str], *, has_numbers: bool) -> ImportedPet:
    category = members.get("category", "")
    digits = category.strip()
    if "categoryId" not in members and digits.isascii() and digits.isdecimal():
        members["categoryId"] = digits
        del members["category"]
    needs_number = "categoryId" in members or (has_numbers and not category)
    return ImportedPet(**load(NUMBERED if needs_number else NAMED, members))


def _csv_fault(error: csv.Error) -> str:
    if "expected after" in str(error):
        return AFTER_QUOTE
    fault = "a quotation mark is not closed"
    if str(error).startswith("field larger"):
        fault += f", or a cell has more than {csv.field_size_limit():,} characters"
    return fault
