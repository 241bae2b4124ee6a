"""Animals in a CSV file: all are added and corrected in one transaction, or none is.

A `Sheet` is the file, read as somebody chooses. `There` is what the project has of it.
A `Preview` says what the file would do to that. All of them only read; `store` writes.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from itertools import chain, islice
from typing import Any, NamedTuple, Self

import orjson
from marshmallow import ValidationError

from petstore.events import EVENT_TYPES, EventType, emit_after_commit
from petstore.extensions.sheets.choices import (
    FIELDS,
    HEADS,
    LEFT_OUT,
    NO_CHOICES,
    Choices,
    guess,
)
from petstore.extensions.sheets.lines import IS_ERROR, Fault, Table, in_parts, restored
from petstore.models import RuleError
from petstore.models.categories import Category, comparable
from petstore.models.orders import Order
from petstore.models.pets import STATUSES, Pet
from petstore.models.projects import Project, refuse_rows, take_rows
from petstore.schemas import faults_of
from petstore.schemas.fields import is_seen
from petstore.storage import Row, db

EVENT_TYPES["animals_imported"] = EventType(
    "Animals imported", ("animals", "corrected")
)

MAX_STATUSES = 30  # of another system; a column with more is no column of statuses
MAX_STATUS_LENGTH = 60
MAX_CELL_LENGTH = 1_000  # of a chosen column; longer ones would take long to check
MAX_SAMPLES = 3  # of a column, from its first lines
SAMPLED_LINES = 100
SAMPLE_LENGTH = 60
# The columns that new animals need, what they contain, and which column may replace
# each.
NEEDED = ("name", "names", ""), ("category", "categories", "categoryId")
SHOWN_MEMBERS = "name", "category_id", "status"
_BREAK = re.compile(r"\s*[\r\n\v]\s*")
_WHOLE = re.compile("([0-9]+)[.,]0")  # 7.0, as spreadsheets and pandas write 7

# A category: its number, or the folded name of a new one that has no number yet.
Meant = int | str


class Question(NamedTuple):
    """What has to be chosen before a file can be stored."""

    field: str
    text: str
    option: str  # of the command


class LinesAtFault(RuleError):
    text = "Nothing was done, since the animals have changed meanwhile. Look again."

    def __init__(self, faults: list[Fault], questions: list[Question]) -> None:
        super().__init__()
        self.faults, self.questions = faults, questions


class FilePet(NamedTuple):
    """A line of a file: a new animal, or corrections of the animal with the id."""

    line: int
    id: int | None
    category_id: int | None
    category: str | None  # its name, or the number again
    members: dict[str, Any]  # the others


class Shown(NamedTuple):
    """An animal as it would be stored: its values now, and the new values."""

    line: int
    id: int | None
    there: dict[str, str]  # by members
    new: dict[str, str]


class Sheet:
    """The animals of a file as it is read, and what is wrong with its lines.

    Raises `NotReadable`.
    """

    def __init__(self, content: bytes, choices: Choices = NO_CHOICES) -> None:
        self.faults: list[Fault] = []
        self.statuses: dict[str, str] = {}  # of another system, by folded ones
        self.left_out = self.with_id = 0
        self._pets: list[FilePet] = []
        self.table = Table(content, choices)
        heads = self.table.heads
        self.samples: dict[str, list[str]] = {head: [] for head in heads}
        known = {"", LEFT_OUT, *heads}
        chosen = {x: y for x, y in choices.columns.items() if y in known}
        self.is_id_chosen = "id" in chosen
        self.choices = replace(
            choices,
            columns={ours: guess(ours, heads) for ours in HEADS} | chosen,
            without_name=choices.without_name * (choices.without_name in known),
            separator=self.table.separator,
            encoding=self.table.encoding,
        )
        self._read()
        statuses = {x: y for x, y in choices.statuses.items() if x in self.statuses}
        self.choices = replace(self.choices, statuses=statuses)
        self.questions = [*self._questions(choices)]
        self.ids = {x.id for x in self if x.id is not None}
        self.numbers = {x.category_id for x in self if x.category_id is not None}
        self.names = {x.category for x in self if x.category}

    def __iter__(self) -> Iterator[FilePet]:
        """Yield the animals, and let other requests run between parts of them."""
        return chain.from_iterable(in_parts(self._pets))

    def ask_whose(self, question: Question) -> None:
        """Ask first whose numbers the file has; until then its lines cannot be read."""
        self.questions.insert(0, question)
        self.faults, self._pets = [], []
        columns = {x: y for x, y in self.choices.columns.items() if x != "id"}
        self.choices = replace(self.choices, columns=columns)

    def _read(self) -> None:
        heads, chosen = self.table.heads, self.choices.columns
        places = {ours: heads.index(head) for ours, head in chosen.items() if head}
        instead = self.choices.without_name
        for count, (number, row) in enumerate(self.table.lines(self.faults)):
            if count < SAMPLED_LINES:
                self._sample(row)
            cells = {ours: row[place] for ours, place in places.items()}
            if instead and not is_seen(cells.get("name", "")):
                if instead == LEFT_OUT:
                    self.left_out += 1
                    continue
                cells["name"] = row[heads.index(instead)]
            self.with_id += bool(cells.get("id", "").strip())
            try:
                self._pets.append(self._pet(number, cells))
            except ValidationError as error:
                self.faults.append(_fault(number, error))

    def _sample(self, row: list[str]) -> None:
        for values, cell in zip(self.samples.values(), row, strict=False):
            value = cell.strip()[:SAMPLE_LENGTH]
            if value and len(values) < MAX_SAMPLES and value not in values:
                values.append(value)

    def _pet(self, number: int, cells: dict[str, str]) -> FilePet:
        for head, cell in cells.items():
            if len(cell) > MAX_CELL_LENGTH:
                text = f"has more than {MAX_CELL_LENGTH:,} characters"
                raise ValidationError({head: text})
        texts = {
            head: _in_one_line(restored(cell)) if head == "name" else _text(head, cell)
            for head, cell in cells.items()
            if is_seen(cell)
        }
        for head in texts:
            if IS_ERROR.match(cells[head]):
                text = f"is an error of a spreadsheet, {cells[head].strip()}"
                raise ValidationError({head: text})
        meant = self._status(texts.pop("status", ""))
        if meant in STATUSES:
            texts["status"] = meant
        if "categoryId" not in texts and _is_number(texts.get("category")):
            texts["categoryId"] = texts.pop("category")
        is_missing = not {"categoryId", "category"} & texts.keys()
        has_number = "categoryId" in (cells if is_missing else texts)
        optional = {"category" if has_number else "category_id"}
        if "id" in texts:
            optional = {*FIELDS.fields} - ({"name"} & cells.keys())
        members: dict[str, Any] = FIELDS.load(texts, partial=optional)
        if meant:  # one that nobody has explained is shown, and never stored
            members["status"] = meant
        apart = {name: members.pop(name, None) for name in FilePet._fields[1:4]}
        return FilePet(number, **apart, members=members)

    def _status(self, text: str) -> str:
        """Return our status for a text, or the text if its meaning is not chosen."""
        folded = folded_status(text)
        if not folded or folded in STATUSES:
            return folded
        if len(self.statuses) <= MAX_STATUSES:
            self.statuses.setdefault(folded, text[:MAX_STATUS_LENGTH])
        return self.choices.statuses.get(folded, text[:MAX_STATUS_LENGTH])

    def _questions(self, chosen: Choices) -> Iterator[Question]:
        heads, columns = self.table.heads, self.choices.columns
        if any("\ufffd" in line for line in self.table.other_letters):
            text = f"The file is not {self.choices.encoding}: choose its encoding"
            yield Question("encoding", text, "--encoding NAME")
        for ours, of, other in NEEDED:
            if not (columns["id"] or columns[ours] or columns.get(other)):
                text = f"Choose the column of the {of}: {', '.join(heads)[:300]}"
                yield Question(ours, text, f'--column "HEAD={ours}"')
        unknown = [y for x, y in self.statuses.items() if x not in chosen.statuses]
        if len(self.statuses) > MAX_STATUSES:
            text = f"A column with more than {MAX_STATUSES} values is no status"
            yield Question("status", text, f'--column "{columns["status"]}="')
        elif unknown:
            text = f"Choose what each status means: {', '.join(unknown)}"
            yield Question("status", text, f'--status "{unknown[0]}=sold"')


class There(NamedTuple):
    """The animals, orders and categories of a project that a file refers to."""

    pets: dict[int, Row]
    orders: dict[int, int]  # the open ones, by the ids of animals
    names: dict[int, str | None]  # of categories
    numbers: dict[str, list[int]]  # of categories, by folded names

    @classmethod
    def of(cls, project_id: int, sheet: Sheet) -> Self:
        there = cls({}, {}, {}, {})
        for ids in in_parts(sheet.ids):
            found = Pet.with_ids(project_id, ids)
            there.pets.update(found)
            # Each animal with an open order is pending.
            pending = [pet.id for pet in found.values() if pet.status == "pending"]
            there.orders.update(Order.open_of(project_id, pending))
        for names in in_parts(sheet.names):
            there.numbers.update(Category.ids_by_name(project_id, names))
        of_pets = {pet.category_id for pet in there.pets.values()}
        for some in in_parts(of_pets.union(sheet.numbers, *there.numbers.values())):
            there.names.update(Category.known(project_id, some))
        return there


class Preview:
    """What a sheet does to a project; it depends on the sheet and on `There` alone."""

    def __init__(self, sheet: Sheet, there: There) -> None:
        self.sheet, self.there = sheet, there
        self.faults = [*sheet.faults]
        self.added: list[tuple[FilePet, Meant]] = []  # with their categories
        self.corrected: dict[int, dict[str, Any]] = {}  # the changes, by ids
        self._lines: dict[int, int] = {}  # by the ids of animals
        self._names = dict(there.names)
        self._numbers: dict[str, Sequence[Meant]] = dict(there.numbers)
        self._find_new_categories()
        for pet in sheet:
            self._add(pet)
        self.faults.sort()

    @property
    def new_categories(self) -> list[str]:
        numbered = (name or f"Category {id}" for id, name in self.numbered.items())
        return [*numbered, *self.named.values()]

    @property
    def rows(self) -> int:
        """How many rows it adds."""
        return len(self.added) + len(self.numbered) + len(self.named)

    @cached_property
    def digest(self) -> str:
        """A hash of what it stores, and of the values that this replaces."""
        pets = self.there.pets
        corrected = [[*pets[x], changes] for x, changes in self.corrected.items()]
        added = [meant for _, meant in self.added]
        stored = [self.sheet.choices, added, corrected, self.new_categories]
        return sha256(orjson.dumps(stored, option=orjson.OPT_SORT_KEYS)).hexdigest()

    def require_no_fault(self) -> None:
        if self.faults or self.sheet.questions:
            raise LinesAtFault(self.faults, self.sheet.questions)

    def first(self, count: int, line: int = 0) -> list[Shown]:
        """Return the first animals from a line on, those that are corrected first."""
        corrected = ((self._lines[x], x, y) for x, y in self.corrected.items())
        added = ((x.line, None, {"category_id": y, **x.members}) for x, y in self.added)
        found = (each for each in chain(corrected, added) if each[0] >= line)
        return [
            Shown(
                number,
                pet_id,
                self._texts(self.there.pets[pet_id]._asdict()) if pet_id else {},
                self._texts(members),
            )
            for number, pet_id, members in islice(found, count)
        ]

    def _texts(self, members: dict[str, Any]) -> dict[str, str]:
        texts = {x: str(members[x]) for x in SHOWN_MEMBERS if x in members}
        if (meant := members.get("category_id")) is not None:
            named = self.named.get(meant) or self._names.get(meant)
            texts["category_id"] = named or f"Category {meant}"
        return texts

    def _find_new_categories(self) -> None:
        """Find the categories with a number first: new names get other numbers."""
        numbered: dict[int, str | None] = {}
        named: dict[str, str] = {}
        for pet in self.sheet:
            name = None if _is_number(pet.category) else pet.category
            if name:
                named.setdefault(comparable(name), name)
            if (number := pet.category_id) is not None and number not in self._names:
                numbered[number] = numbered.get(number) or name
        for numbers in in_parts(numbered):
            for number in numbers:
                folded = comparable(numbered[number] or "")
                if folded and self._numbers.setdefault(folded, [number]) != [number]:
                    numbered[number] = None  # another category has the name
        self._names |= numbered
        self.numbered = numbered
        self.named = {x: named[x] for x in named if x not in self._numbers}
        self._numbers |= {folded: [folded] for folded in self.named}

    def _add(self, pet: FilePet) -> None:
        try:
            if pet.id is None:
                self.added.append((pet, self._category(pet, None)["category_id"]))
            elif changes := self._changes(pet, pet.id):
                self.corrected[pet.id] = changes
        except ValidationError as error:
            self.faults.append(_fault(pet.line, error))

    def _changes(self, pet: FilePet, pet_id: int) -> dict[str, Any]:
        """Return the changes that a line makes to an animal."""
        if (there := self.there.pets.get(pet_id)) is None:
            text = f"{pet_id} is unknown; to add the animal, leave the column id out"
            raise ValidationError({"id": text})
        if (line := self._lines.setdefault(pet_id, pet.line)) != pet.line:
            raise ValidationError({"id": f"{pet_id} stands in line {line} already"})
        changes = {
            name: value
            for name, value in pet.members.items()
            if value != getattr(there, name)
        }
        if "status" in changes and (order_id := self.there.orders.get(pet_id)):
            text = (
                f"cannot change before the order {order_id} is completed or cancelled"
            )
            raise ValidationError({"status": text})
        return changes | self._category(pet, there.category_id)

    def _category(self, pet: FilePet, current: int | None) -> dict[str, Meant]:
        """Return the category that a line means, unless the animal has it."""
        number: Any = pet.category_id
        name = pet.category
        meant: set[Any] = {number, self._named(name, number, current) if name else None}
        meant -= {None, current}
        if len(meant) > 1:
            known = self._names.get(number) or "otherwise"
            text = f"{number} is named {known}, not {name}"
            raise ValidationError({"categoryId": text})
        return {"category_id": meant.pop()} if meant else {}

    def _named(self, name: str, *likely: Any) -> Meant:
        """Return the category that a name or a number in a cell means."""
        folded = comparable(name)
        for number in likely:
            if comparable(self._names.get(number) or "") == folded:
                return int(number)
        if _is_number(name):
            return int(name)
        numbers = self._numbers[folded]
        if len(numbers) > 1:
            both = " and ".join(map(str, numbers))
            text = f"{name} is the name of {both}; give the number"
            raise ValidationError({"category": text})
        return numbers[0]


def foresee(project: Project, content: bytes, choices: Choices = NO_CHOICES) -> Preview:
    """Return what a file would do to the project as it is.

    Raises `NotReadable` and `ProjectFull`.
    """
    sheet = Sheet(content, choices)
    there = There.of(project.id, sheet)
    is_open = sheet.with_id and not sheet.is_id_chosen
    if is_open and (text := _whose(sheet, there)):
        head = sheet.choices.columns["id"]
        options = f"--column {head}=id corrects, --column {head}= adds all as new"
        sheet.ask_whose(Question("id", text, options))
    preview = Preview(sheet, there)
    if not project.has_room(preview.rows):
        refuse_rows(project.id, preview.rows)
    return preview


def _whose(sheet: Sheet, there: There) -> str | None:
    """Return the question about the ids of a file, unless the file is plainly ours."""
    known = [pet for pet in sheet if pet.id in there.pets]
    names = [there.pets[pet.id].name for pet in known if pet.id]
    named = sum(x.members.get("name") == y for x, y in zip(known, names, strict=True))
    columns, heads = sheet.choices.columns, {x.lower() for x in sheet.table.heads}
    is_named = not columns["name"] or 2 * named > len(known)
    has_ours = any(x.lower() in heads for x in HEADS if x != "id")
    if has_ours and is_named and 2 * len(known) > sheet.with_id:
        return None
    text = f"{len(known):,} of {sheet.with_id:,} numbers are animals here"
    if columns["name"]:
        text += f", {named:,} of them with that name"
    return f"{text}: correct them, or add all animals as new?"


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
        _write(project.id, preview)
        facts: dict[str, Any] = {"animals": len(preview.added)}
        facts["corrected"] = len(preview.corrected)
        if any(facts.values()):
            emit_after_commit("animals_imported", project=project.slug, **facts)
    return preview


def _write(project_id: int, preview: Preview) -> None:
    numbers: dict[Any, int] = {}  # of new categories

    def numbered(members: dict[str, Any]) -> dict[str, Any]:
        number = numbers.get(members.get("category_id"))
        return members if number is None else members | {"category_id": number}

    for categories in in_parts(preview.numbered.items()):
        Category.add_numbered(project_id, dict(categories))
    for folded in in_parts(preview.named):
        names = [preview.named[each] for each in folded]
        new = Category.add_named(project_id, names)
        numbers |= zip(folded, new, strict=True)
    for pets in in_parts(preview.added):
        added = ({"category_id": meant, **pet.members} for pet, meant in pets)
        Pet.add_many(project_id, map(numbered, added))
    for corrected in in_parts(preview.corrected.items()):
        changes = {pet_id: numbered(members) for pet_id, members in corrected}
        Pet.correct_many(project_id, changes)


def folded_status(text: str) -> str:
    """Return a status of another system as it is compared."""
    return comparable(text[:MAX_STATUS_LENGTH])


def _text(head: str, cell: str) -> str:
    if head != "status" and (number := _WHOLE.fullmatch(cell.strip())):
        return number[1]
    return _in_one_line(restored(cell)).strip()


def _in_one_line(text: str) -> str:
    """Return a text with blanks for the line breaks that people make in a cell."""
    return _BREAK.sub(" ", text.strip("\r\n\v"))


def _is_number(text: str | None) -> bool:
    return bool(re.fullmatch("[0-9]+", text or ""))


def _fault(line: int, error: ValidationError) -> Fault:
    faults = [f"{head} {text}" for head, text in faults_of(error).items()]
    return Fault(line, "; ".join(faults))
