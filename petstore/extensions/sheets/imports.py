"""Animals in a CSV file: what they would do to a project, before they do it.

A `Sheet` is the file, read as somebody chooses. `There` is what the project has of it.
A `Preview` says what the file would do to that. All of them only read.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from hashlib import sha256
from html import unescape
from typing import Any, NamedTuple, Self

import orjson
from marshmallow import ValidationError
from peewee import fn

from petstore import randomness
from petstore.extensions.sheets import choices as sheets
from petstore.extensions.sheets import lines
from petstore.extensions.sheets.choices import EACH, NONE, STATUS, Choices
from petstore.extensions.sheets.lines import Fault, Table, giving_way, in_parts
from petstore.extensions.sheets.models import names_by
from petstore.models import RuleError
from petstore.models.categories import Category, comparable
from petstore.models.orders import Order
from petstore.models.pets import STATUSES, Pet
from petstore.models.projects import Project
from petstore.schemas import faults_of
from petstore.schemas.fields import INT64_MAX, is_seen
from petstore.storage import Row

MAX_STATUSES = 30  # of another system; a column with more is no column of statuses
MAX_CELL = 1_000  # characters; a text with more than 200 of them is at fault
COMPARED = 1_000  # of the newest animals, beside two for each new one
SHOWN = 20  # faults, and categories
FIRST, LAST = 15, 5  # animals that are shown
CATEGORY = "category", "categoryId"  # columns, one of which new animals need
HEADED = {*sheets.COLUMNS, "without_name"}  # what is chosen by a head
# What may be chosen instead of a column that new animals need.
NEEDED = {"name": ("name", "without_name"), "category": (*CATEGORY, "without_category")}
BLANKS = {"na", "n/a", "null", "none"}  # what programs write for no name
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,8}\d{0,2});")
_UNNAMED = re.compile(sheets.NUMBERED.format("[0-9]+"))
_BREAK = re.compile(r"\s*[\r\n\v]\s*")
_WHOLE = re.compile("([0-9]+)[.,]0")  # 7.0, as spreadsheets and pandas write 7


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
    members: dict[str, Any]  # the others; in a preview, all that are stored


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

    def __init__(self, content: bytes, choices: Choices = NONE) -> None:
        self.statuses: dict[str, str] = {}  # of another system, by folded ones
        self.with_id = self.new = 0
        self.entity = ""  # the first text with one
        self._pets: list[FilePet] = []
        self.table = Table(content, choices)
        self.faults, self.left_out = self.table.faults, self.table.left_out
        self.chosen = self._known(choices)
        said = {x: y for x, y in self.chosen.items() if not x.startswith(STATUS)}
        self._guesses = sheets.guess_columns(self.table.values)
        taken = {*map(said.get, sheets.COLUMNS)}
        free = {x: y for x, y in self._guesses.items() if y not in taken}
        self.choices = free | said | self.table.choices  # with guesses at the rest
        needed = {x: map(self.choices.get, ("id", *y)) for x, y in NEEDED.items()}
        self.missing = [ours for ours, chosen in needed.items() if not any(chosen)]
        self._read()
        self.questions = [*self._questions()]

    def __iter__(self) -> Iterator[FilePet]:
        """Yield the animals, and let other requests run between parts of them."""
        return giving_way(self._pets)

    @property
    def not_stored(self) -> list[str]:
        """The heads of the columns that are not stored."""
        stored = {*map(self.choices.get, HEADED)}
        others = [head for head in self.table.heads if head not in stored]
        return [x for x in others if self.table.values[x] or not _UNNAMED.fullmatch(x)]

    @property
    def notes(self) -> Iterator[str]:
        """Sentences about what is not stored, or may be read in a wrong way."""
        if heads := ", ".join(self.not_stored):
            yield f"Not stored here: {heads}."
        for reason, count in self.left_out.items():
            yield f"Left out, {reason}: {count:,}."
        for row in self.table.long[:LAST]:
            text = f"The lines {row.first:,} to {row.last:,} are one animal"
            yield f"{text}, since a quotation mark in line {row.first:,} ends there."

    def ask_whose(self, text: str) -> None:
        """Ask first whose numbers the file has; until then its lines cannot be read."""
        head = self.choices.pop("id")
        option = f"--column {head}=id corrects, --column {head}= adds all as new"
        self.questions.insert(0, Question("id", text, option))
        self.faults, self._pets = [], []

    def _known(self, choices: Choices) -> dict[str, str]:
        """Return the choices, but for columns that the file does not have."""
        heads = self.table.heads
        known = {sheets.NUMBERED.format(n): head for n, head in enumerate(heads, 1)}
        known |= {x: x for x in ("", sheets.LEFT_OUT, sheets.AS_NAMES, *heads)}
        named = {x: y for x, y in choices.items() if x in HEADED and y[:1] != EACH}
        others = {x: y for x, y in choices.items() if x not in named}
        return others | {x: known[y] for x, y in named.items() if y in known}

    def _read(self) -> None:
        """Read the lines below the heads, as far as the columns are known."""
        heads, choices = self.table.heads, self.choices
        columns = {x: choices[x] for x in sheets.COLUMNS if choices.get(x)}
        places = {x: heads.index(head) for x, head in columns.items() if head in heads}
        values = {x: y[1:] for x, y in columns.items() if x not in places}
        unnamed = choices.get("without_name", "")
        without_category = choices.get("without_category", "")
        if unnamed in heads:
            places["instead"] = heads.index(unnamed)
        named = ["category"] if unnamed == sheets.AS_NAMES else ["category", "name"]
        for number, row in self.table.rows():
            cells = {ours: row[place][:MAX_CELL] for ours, place in places.items()}
            cells = values | {x: y for x, y in cells.items() if is_seen(y)}
            for ours in named:
                if cells.get(ours, "").strip().lower() in BLANKS:
                    del cells[ours]
            if instead := cells.pop("instead", ""):
                cells.setdefault("name", instead)
            has_id = "id" in cells
            self.with_id += has_id
            self.new += not has_id
            is_open = not has_id and not cells.keys() & {*CATEGORY}
            if is_open and without_category:
                cells["category"] = without_category
            meant = self._status(cells.get("status", ""))
            if meant == "out":
                self.left_out["because of their status"] += 1
            elif unnamed in (sheets.LEFT_OUT, sheets.AS_NAMES) and not cells.get(
                "name"
            ):
                self.left_out["without a name"] += 1
            elif is_open and without_category == sheets.LEFT_OUT:
                self.left_out["without a category"] += 1
            elif not self.missing:
                try:
                    self._pets.append(self._pet(number, cells, meant))
                except ValidationError as error:
                    self.faults.append(_fault(number, error))

    def _pet(self, number: int, cells: dict[str, str], meant: str) -> FilePet:
        texts = {x: self._text(x, cell) for x, cell in cells.items()}
        texts.pop("status", None)
        if "categoryId" not in texts and _is_number(texts.get("category")):
            texts["categoryId"] = texts.pop("category")
        given = texts if texts.keys() & {*CATEGORY} else self.choices
        optional = {"category" if given.get("categoryId") else "category_id"}
        if "id" in texts:
            optional = {*sheets.FIELDS.fields} - {self.choices.get("name") and "name"}
        members: dict[str, Any] = sheets.FIELDS.load(texts, partial=optional)
        if meant:  # one that nobody has explained is shown, and never stored
            members["status"] = meant
        apart = {name: members.pop(name, None) for name in FilePet._fields[1:4]}
        return FilePet(number, **apart, members=members)

    def _text(self, head: str, cell: str) -> str:
        """Return the text of a cell; raises `ValidationError`."""
        fault = ""
        if self.table.is_guess and "\ufffd" in cell:
            fault = f"has letters that are not {self.table.encoding or 'UTF-8'}"
        elif lines.IS_ERROR.match(cell):
            fault = f"is an error of a spreadsheet, {cell.strip()}"
        if fault:
            raise ValidationError({head: fault})
        if head not in ("name", "status") and (whole := _WHOLE.fullmatch(cell.strip())):
            return whole[1]
        # People make line breaks within a cell.
        text = _BREAK.sub(" ", lines.restored(cell).strip("\r\n\v"))
        if "&" in text and _ENTITY.search(text):
            self.entity = self.entity or text[: lines.MAX_HEAD_LENGTH]
            if self.choices.get("entities") == "read":
                text = unescape(text)
        return text if head == "name" else text.strip()

    def _status(self, text: str) -> str:
        """Return what a status means, or its text if that is neither said nor usual."""
        text = lines.restored(text).strip()[: sheets.MAX_STATUS_LENGTH]
        key = sheets.folded_status(text)
        if not key or key in STATUSES:
            return key
        if len(self.statuses) <= MAX_STATUSES:
            self.statuses.setdefault(key, text)
        name, usual = f"{STATUS}{key}", sheets.MEANINGS.get(sheets.folded(key), "")
        if meant := self.chosen.get(name, usual):
            self.choices[name] = meant
        return meant or text

    def _questions(self) -> Iterator[Question]:
        choices, values = self.choices, self.table.values
        if self.table.is_open:
            text = "Choose the line with the heads of the columns, or that it has none"
            yield Question("heads", text, "--heads 1, or --heads none")
        # Columns that are known are left out by a choice.
        others = [x for x in self.not_stored if x not in self._guesses.values()]
        is_open = "status" not in choices and self.new and others
        few = ", ".join(others[:8] + ["…"] * (len(others) > 8))
        for ours in self.missing + ["status"] * bool(is_open):
            label = sheets.COLUMNS[ours].lower()
            text = f"Choose what is the {label}: {few}"
            yield Question(ours, text, f'--column "HEAD={ours}", or --all {ours}=VALUE')
        for ours, head in self._guesses.items():
            second = f"{head} (2)"
            is_other = values.get(second, values[head]) != values[head]
            if is_other and ours not in self.chosen:
                text = f"Two columns are called {head}: choose one"
                yield Question(ours, text, f'--column "{second}={ours}"')
        unknown = [y for x, y in self.statuses.items() if f"{STATUS}{x}" not in choices]
        if len(self.statuses) > MAX_STATUSES:
            text = f"A column with more than {MAX_STATUSES} values is no status"
            yield Question("status", text, f'--column "{choices["status"]}="')
        elif unknown:
            text = f"Choose what each status means: {', '.join(unknown)}"
            yield Question(STATUS, text, f'--status "{unknown[0]}=sold"')
        if self.entity and "entities" not in choices:
            text = f"Choose whether {self.entity} is {unescape(self.entity)}"
            yield Question("entities", text, "--entities read, or --entities keep")


MAX_NEW_ID = 2**53 - 1  # of categories, which JavaScript and spreadsheets read exactly


class There(NamedTuple):
    """The animals, orders and categories of a project that a file refers to."""

    pets: dict[int, Row]
    orders: dict[int, int | None]  # the open ones, by the ids of animals
    names: dict[int, str | None]  # of categories
    last_number: int  # of all categories, but for very high ones

    @classmethod
    def of(cls, project_id: int, sheet: Sheet) -> Self:
        is_low = (Category.project == project_id) & (Category.id <= MAX_NEW_ID)
        last = Category.select(fn.MAX(Category.id)).where(is_low).scalar()
        there = cls({}, {}, {}, last or 0)
        is_its = (Order.project == Pet.project) & (Order.pet_id == Pet.id)
        is_open = is_its & (Order.status == "placed")
        pets = Pet.select(*Pet.columns(), Order.id).left_outer_join(Order, on=is_open)
        for ids in in_parts({x.id for x in sheet} - {None}):
            few = pets.where(Pet.project == project_id, Pet.id.in_(ids))
            for *pet, order_id in few.tuples().iterator():
                there.pets[pet[0]] = Pet.row(*pet)
                there.orders[pet[0]] = order_id
        numbers = {pet.category_id for pet in (*sheet, *there.pets.values())} - {None}
        for some in in_parts(numbers):
            there.names.update(names_by(Category.id, some, project_id))
        for names in in_parts({comparable(x.category) for x in sheet if x.category}):
            there.names.update(names_by(Category.folded, names, project_id))
        return there


class Preview:
    """What a sheet does to a project; it depends on the sheet and on `There` alone."""

    def __init__(self, sheet: Sheet, there: There) -> None:
        self.sheet, self.there = sheet, there
        self.faults = [*sheet.faults]
        self.import_id: int | None = None  # of what was added, once it is stored
        self.categories: dict[int, str | None] = {}  # new ones, by their numbers
        self._names: dict[Any, str | None] = {**there.names}
        self._numbers: dict[str, list[int]] = defaultdict(list)  # by folded names
        for number, name in giving_way(sorted(there.names.items())):
            self._numbers[comparable(name or "")].append(number)
        self._find_new_categories()
        self._lines: dict[int, int] = {}  # by the ids of animals
        self.changes: list[FilePet] = []
        for pet in sheet:
            try:
                if members := self._members(pet):
                    self.changes.append(FilePet(*pet[:4], members))
            except ValidationError as error:
                self.faults.append(_fault(pet.line, error))
        self.added = [pet for pet in self.changes if pet.id is None]
        self.corrected = [pet for pet in self.changes if pet.id is not None]
        self.rows = len(self.added) + len(self.categories)
        self.new_categories = [y or f"Category {x}" for x, y in self.categories.items()]
        self.first = [*map(self.shown, self.changes[:FIRST])]
        self.last = [*map(self.shown, self.changes[FIRST:][-LAST:])]
        self.faults.sort()

    @cached_property
    def digest(self) -> str:
        """A hash of what it stores, and of the values that this replaces."""
        choices = sorted(self.sheet.choices.items())
        found = sha256(orjson.dumps([choices, self.new_categories]))
        for pet in giving_way(self.changes):
            found.update(orjson.dumps([*self.shown(pet)]))
        return found.hexdigest()

    def require_no_fault(self) -> None:
        if self.faults or self.sheet.questions:
            raise LinesAtFault(self.faults, self.sheet.questions)

    def shown(self, pet: FilePet) -> Shown:
        there = self.there.pets[pet.id]._asdict() if pet.id is not None else {}
        return Shown(pet.line, pet.id, self._texts(there), self._texts(pet.members))

    def _texts(self, members: dict[str, Any]) -> dict[str, str]:
        number = members.get("category_id")
        label = {"category_id": self._names.get(number) or f"Category {number}"}
        texts = members | label if number is not None else members
        return {x: texts[x] for x in ("name", "category_id", "status") if x in texts}

    def _find_new_categories(self) -> None:
        """Find the categories with a number first: new names get other numbers."""
        named: dict[str, str] = {}
        for pet in self.sheet:
            name = None if _is_number(pet.category) else pet.category
            if name:
                named.setdefault(comparable(name), name)
            if (number := pet.category_id) is not None and number not in self._names:
                self.categories[number] = self.categories.get(number) or name
        for number in giving_way([*self.categories]):
            folded = comparable(self.categories[number] or "")
            if folded and self._numbers.setdefault(folded, [number]) != [number]:
                self.categories[number] = None  # another category has the name
        new = {x: y for x, y in named.items() if x not in self._numbers}
        numbers = [x for x in self.categories if x <= MAX_NEW_ID]
        first = max(self.there.last_number, *numbers, 0) + 1
        if first + len(new) > MAX_NEW_ID:  # lower numbers are free
            first = randomness.source.randrange(MAX_NEW_ID - len(new))
        self.categories |= enumerate(new.values(), first)
        self._numbers |= {folded: [number] for number, folded in enumerate(new, first)}
        self._names |= self.categories

    def _members(self, pet: FilePet) -> dict[str, Any]:
        """Return what a line stores of a new animal, or changes of one."""
        if pet.id is None:
            return self._category(pet, None) | pet.members
        if (there := self.there.pets.get(pet.id)) is None:
            text = f"{pet.id} is unknown; to add the animal, leave the column id out"
            raise ValidationError({"id": text})
        if (line := self._lines.setdefault(pet.id, pet.line)) != pet.line:
            raise ValidationError({"id": f"{pet.id} stands in line {line} already"})
        changes = {x: y for x, y in pet.members.items() if y != getattr(there, x)}
        if "status" in changes and (order_id := self.there.orders.get(pet.id)):
            order = f"the order {order_id} is completed or cancelled"
            raise ValidationError({"status": f"cannot change before {order}"})
        return changes | self._category(pet, there.category_id)

    def _category(self, pet: FilePet, current: int | None) -> dict[str, int]:
        """Return the category that a line means, unless the animal has it."""
        number, name = pet.category_id, pet.category
        named = self._named(name, number, current) if name else None
        meant: set[Any] = {number, named} - {None, current}
        if len(meant) > 1:
            known = self._names.get(number) or "otherwise"
            text = f"{number} is named {known}, not {name}"
            raise ValidationError({"categoryId": text})
        return {"category_id": meant.pop()} if meant else {}

    def _named(self, name: str, *likely: int | None) -> int | None:
        """Return the category that a name or a number in a cell means."""
        folded = comparable(name)
        same = [x for x in likely if comparable(self._names.get(x) or "") == folded]
        found = [int(name)] if _is_number(name) else self._numbers.get(folded, [])
        if len(found) > 1 and not same:
            text = f"{name} is the name of {' and '.join(map(str, found))}"
            raise ValidationError({"category": f"{text}; give the number"})
        return (same or found)[0]


def foresee(project: Project, content: bytes, choices: Choices = NONE) -> Preview:
    """Return what a file would do to the project as it is.

    Raises `NotReadable`.
    """
    sheet = Sheet(content, choices)
    there = There.of(project.id, sheet)
    is_open = sheet.with_id and "id" not in sheet.chosen
    if is_open and (text := _whose(sheet, there)):
        sheet.ask_whose(text)
    preview = Preview(sheet, there)
    known = 0 if "add_again" in choices else _count_known(project.id, preview)
    if known > 1 and 2 * known > len(preview.added):
        text = f"{known:,} of {len(preview.added):,} animals of these names and "
        text += "categories are here already: add them again?"
        sheet.questions.append(Question("add_again", text, "--again"))
    limit = project.row_limit
    if limit is not None and preview.rows > (room := max(0, limit - project.rows_held)):
        text = (
            f"The project has room for {room:,} animals and categories, but the file "
        )
        text += f"adds {preview.rows:,}: leave lines out, or ask for another plan"
        sheet.questions.append(Question("leave_out", text, "--leave-out 32,40-45"))
    return preview


def _whose(sheet: Sheet, there: There) -> str | None:
    """Return the question about the ids of a file, unless the file is plainly ours."""
    known = [(pet, there.pets[pet.id]) for pet in sheet if pet.id in there.pets]
    named = sum(pet.members.get("name") == ours.name for pet, ours in known)
    has_names = "name" in sheet.choices
    heads = {head.lower() for head in sheet.table.heads}
    has_ours = any(x.lower() in heads for x in sheets.COLUMNS if x != "id")
    is_named = not has_names or 2 * named > len(known)
    if has_ours and is_named and 2 * len(known) > sheet.with_id:
        return None
    text = f"{len(known):,} of {sheet.with_id:,} numbers are animals here"
    text += f", {named:,} of them with that name" * has_names
    return f"{text}: correct them, or add all animals as new?"


def _count_known(project_id: int, preview: Preview) -> int:
    """Return how many new animals are like the newest ones: a file may come twice."""
    known: set[tuple[str, int]] = set()
    last = INT64_MAX
    for part in in_parts(range(COMPARED + 2 * len(preview.added))):
        pets = Pet.select(Pet.id, Pet.name, Pet.category_id)
        newest = pets.where(Pet.project == project_id, Pet.id < last)
        found = [*newest.order_by(Pet.id.desc()).limit(len(part)).tuples().iterator()]
        known.update((name, category_id) for _, name, category_id in found)
        last = found[-1][0] if found else 0
    added = (pet.members for pet in giving_way(preview.added))
    return sum((pet["name"], pet["category_id"]) in known for pet in added)


def _is_number(text: str | None) -> bool:
    return bool(re.fullmatch("[0-9]+", text or ""))


def _fault(line: int, error: ValidationError) -> Fault:
    faults = [f"{head} {text}" for head, text in faults_of(error).items()]
    return Fault(line, "; ".join(faults))
