"""Animals in a CSV file: all are added and corrected in one transaction, or none is.

A `Sheet` is the file, read as somebody chooses. `There` is what the project has of it.
A `Preview` says what the file would do to that. All of them only read.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from heapq import nlargest
from html import unescape
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple, Self

import orjson
from marshmallow import ValidationError

from petstore.extensions.sheets import choices as sheets
from petstore.extensions.sheets import lines
from petstore.extensions.sheets.choices import FIELDS, NO_CHOICES, Choices, seen_of
from petstore.extensions.sheets.lines import Fault, Table, giving_way, in_parts
from petstore.extensions.sheets.models import Import
from petstore.models import RuleError
from petstore.models.categories import Category, comparable
from petstore.models.orders import Order
from petstore.models.pets import STATUSES, Pet
from petstore.models.projects import Project, refuse_rows
from petstore.schemas import faults_of
from petstore.schemas.fields import INT64_MAX, is_seen
from petstore.storage import Row

MAX_STATUSES = 30  # of another system; a column with more is no column of statuses
MAX_STATUS_LENGTH = 60
MAX_CELL_LENGTH = 1_000  # of a chosen column; longer ones would take long to check
COMPARED = 1_000  # of the newest animals, beside two for each new one
MAX_SAMPLES = 3  # of a column, from its first lines
SAMPLED_LINES = 100
SAMPLE_LENGTH = 60
NAMED = "name", "category"
CATEGORY = "category", "categoryId"  # columns, one of which new animals need
# What the columns contain, and how else the command may give it.
OF = {"name": "names", "category": "categories", "categoryId": "numbers of categories"}
OF |= {"status": "statuses", "id": "numbers of animals here"}
ALSO = {"name": "", "category": " or --all category=Cats"}
ALSO |= {"status": " or --all status=available"}
SHOWN_MEMBERS = "name", "category_id", "status"
BLANKS = {"na", "n/a", "null", "none"}  # what programs write for no name
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,8}\d{0,2});")
_UNNAMED = re.compile(sheets.NUMBERED.format("[0-9]+"))
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
        self.meanings: dict[str, str] = {}  # of these, as far as they are known
        self.left_out: Counter[str] = Counter()  # lines, by the reason
        self.with_id = self.new = 0
        self.entity = ""  # the first text with one
        self._pets: list[FilePet] = []
        self.table = Table(content, choices)
        self.samples: dict[str, list[str]] = {head: [] for head in self.table.heads}
        self.chosen: set[str] = set()  # the columns that somebody has chosen
        self.choices = self._known(choices)
        self.missing = [*self._missing()]
        self._read()
        for key in self.statuses:
            if meant := self._meaning(key):
                self.meanings[key] = meant
        self.choices = replace(self.choices, statuses=self.meanings)
        self.questions = [*self._questions()]
        self.ids = {x.id for x in self if x.id is not None}
        self.numbers = {x.category_id for x in self if x.category_id is not None}
        self.names = {x.category for x in self if x.category}

    def __iter__(self) -> Iterator[FilePet]:
        """Yield the animals, and let other requests run between parts of them."""
        return giving_way(self._pets)

    @property
    def not_stored(self) -> list[str]:
        """The heads of the columns that are not stored."""
        stored = {*self.choices.columns.values(), self.choices.without_name}
        others = [head for head in self.table.heads if head not in stored]
        return [x for x in others if self.samples[x] or not _UNNAMED.fullmatch(x)]

    def ask_whose(self, question: Question) -> None:
        """Ask first whose numbers the file has; until then its lines cannot be read."""
        self.questions.insert(0, question)
        self.faults, self._pets = [], []
        columns = {x: y for x, y in self.choices.columns.items() if x != "id"}
        self.choices = replace(self.choices, columns=columns)

    def _known(self, choices: Choices) -> Choices:
        """Return the choices of what the file has, and the guesses at the rest."""
        heads, line = self.table.heads, self.table.heads_line
        known = {sheets.NUMBERED.format(n): head for n, head in enumerate(heads, 1)}
        known |= {seen_of(head): head for head in heads}
        known |= {head: head for head in heads} | {"": ""}
        known.setdefault(Choices.LEFT_OUT, Choices.LEFT_OUT)
        columns = {x: known.get(seen_of(y)) for x, y in choices.columns.items()}
        chosen = {x: y for x, y in columns.items() if y is not None}
        chosen |= dict.fromkeys(choices.values, "")
        self.chosen = {*chosen}
        taken = {*chosen.values()} - {""}
        free = {x: "" if y in taken else y for x, y in self.table.columns.items()}
        return replace(
            choices,
            columns=free | chosen,
            without_name=known.get(seen_of(choices.without_name), ""),
            separator=self.table.separator,
            encoding=self.table.chosen_encoding,
            heads=None if self.table.is_open else str(line or Choices.NO_HEADS),
        )

    def _missing(self) -> Iterator[str]:
        """Yield which columns new animals need that nobody has chosen."""
        choices, columns = self.choices, self.choices.columns
        if not (columns["id"] or columns["name"] or choices.without_name):
            yield "name"
        others = choices.values.get("category") or choices.without_category
        if not (columns["id"] or any(map(columns.get, CATEGORY)) or others):
            yield "category"

    def _read(self) -> None:
        heads, choices = self.table.heads, self.choices
        places = {x: heads.index(head) for x, head in choices.columns.items() if head}
        instead = choices.without_name
        leaves_out = choices.without_category == Choices.LEFT_OUT
        for count, (number, row) in enumerate(self.table.rows(self.faults)):
            if count < SAMPLED_LINES:
                self._sample(row)
            cells = {ours: row[place] for ours, place in places.items()}
            cells |= choices.values
            for ours in NAMED & cells.keys():
                cell = cells[ours]
                if not is_seen(cell) or cell[:9].strip().casefold() in BLANKS:
                    cells[ours] = ""
            if instead in heads and not cells.get("name"):
                cells["name"] = row[heads.index(instead)]
            has_id = bool(cells.get("id", "").strip())
            self.with_id += has_id
            self.new += not has_id
            has_category = any(cells.get(x, "").strip() for x in CATEGORY)
            if not (has_id or has_category):
                cells["category"] = choices.without_category
            meant = self._status(cells.get("status", "")[:MAX_CELL_LENGTH])
            if meant == Choices.OUT:
                self.left_out["because of their status"] += 1
            elif instead == Choices.LEFT_OUT and not cells.get("name"):
                self.left_out["without a name"] += 1
            elif leaves_out and not (has_id or has_category):
                self.left_out["without a category"] += 1
            elif not self.missing:
                try:
                    self._pets.append(self._pet(number, cells, meant))
                except ValidationError as error:
                    self.faults.append(_fault(number, error))
        if self.table.left_out:
            self.left_out["by their numbers"] = self.table.left_out

    def _sample(self, row: list[str]) -> None:
        for values, cell in zip(self.samples.values(), row, strict=False):
            value = cell.strip()[:SAMPLE_LENGTH]
            if value and len(values) < MAX_SAMPLES and value not in values:
                values.append(value)

    def _pet(self, number: int, cells: dict[str, str], meant: str) -> FilePet:
        for head, cell in cells.items():
            if len(cell) > MAX_CELL_LENGTH:
                text = f"has more than {MAX_CELL_LENGTH:,} characters"
                raise ValidationError({head: text})
            if self.table.is_guess and "\ufffd" in cell:
                text = f"has letters that are not {self.table.encoding}"
                raise ValidationError({head: text})
        texts = {x: _text(x, cell) for x, cell in cells.items() if is_seen(cell)}
        for head, text in texts.items():
            if lines.IS_ERROR.match(cells[head]):
                error = f"is an error of a spreadsheet, {cells[head].strip()}"
                raise ValidationError({head: error})
            if "&" in text and _ENTITY.search(text):
                texts[head] = self._without_entities(text)
        texts.pop("status", None)
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

    def _without_entities(self, text: str) -> str:
        self.entity = self.entity or text[:SAMPLE_LENGTH]
        return unescape(text) if self.choices.entities == Choices.READ else text

    def _status(self, text: str) -> str:
        """Return what a status means, or its text if that is neither said nor usual."""
        text = lines.restored(text).strip()
        key = folded_status(text)
        if not key or key in STATUSES:
            return key
        if len(self.statuses) <= MAX_STATUSES:
            self.statuses.setdefault(key, text[:MAX_STATUS_LENGTH])
        return self._meaning(key) or text[:MAX_STATUS_LENGTH]

    def _meaning(self, key: str) -> str:
        usual = sheets.STATUS_WORDS.get(sheets.folded(key), "")
        return self.choices.statuses.get(key, usual)

    def _questions(self) -> Iterator[Question]:
        heads, columns = self.table.heads, self.choices.columns
        if self.table.is_open:
            text = "Choose the line with the heads of the columns, or that it has none"
            yield Question("heads", text, "--heads 1, or --heads none")
        for ours in self.missing:
            text = f"Choose the column of the {OF[ours]}: {', '.join(heads)[:300]}"
            yield Question(ours, text, f'--column "HEAD={ours}"{ALSO[ours]}')
        for ours, head in columns.items():
            second = self.samples.get(f"{head} (2)")
            if ours not in self.chosen and second not in (None, self.samples.get(head)):
                text = f"Two columns are called {head}: choose one for the {OF[ours]}"
                yield Question(ours, text, f'--column "{head} (2)={ours}"')
        is_open = not columns["status"] and "status" not in self.chosen
        known = self.table.columns.values()  # which are left out by a choice
        others = ", ".join(head for head in self.not_stored if head not in known)[:300]
        if is_open and self.new and others:
            text = f"Choose the column of the statuses, or one status for all: {others}"
            yield Question("status", text, f'--column "HEAD=status"{ALSO["status"]}')
        unknown = [y for x, y in self.statuses.items() if x not in self.meanings]
        if len(self.statuses) > MAX_STATUSES:
            text = f"A column with more than {MAX_STATUSES} values is no status"
            yield Question("status", text, f'--column "{columns["status"]}="')
        elif unknown:
            text = f"Choose what each status means: {', '.join(unknown)}"
            yield Question("status", text, f'--status "{unknown[0]}=sold"')
        if self.entity and not self.choices.entities:
            text = f"Choose whether {self.entity} is {unescape(self.entity)}"
            yield Question("entities", text, "--entities read, or --entities keep")
        if sheets.ranges_of(self.choices.leave_out) is None:
            text = "Write the lines to leave out as numbers, such as 32, 40-45"
            yield Question("leave_out", text, "--leave-out 32,40-45")


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
            there.numbers.update(_numbers_of_names(project_id, names))
        of_pets = {pet.category_id for pet in there.pets.values()}
        for some in in_parts(of_pets.union(sheet.numbers, *there.numbers.values())):
            there.names.update(Category.known(project_id, some))
        return there


def _numbers_of_names(project_id: int, names: list[str]) -> dict[str, list[int]]:
    """Return the numbers of the categories with these names, by folded names."""
    folded = Category.folded.in_([*set(map(comparable, names))])
    rows = Category.select(Category.id, Category.folded).where(
        Category.project == project_id, folded
    )
    found: dict[str, list[int]] = defaultdict(list)
    for number, name in sorted(rows.tuples().iterator()):
        found[name].append(number)
    return found


class Preview:
    """What a sheet does to a project; it depends on the sheet and on `There` alone."""

    def __init__(self, sheet: Sheet, there: There) -> None:
        self.sheet, self.there = sheet, there
        self.faults = [*sheet.faults]
        self.record: Import | None = None  # of what was added, once it is stored
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
        found = (each for each in self._lines_and_changes() if each[0] >= line)
        return [self._shown(*each) for each in islice(found, count)]

    def last(self, count: int, line: int = 0) -> list[Shown]:
        """Return the last animals of the file, if they are behind a line."""
        found = nlargest(count, self._lines_and_changes(), key=itemgetter(0))
        return [self._shown(*each) for each in reversed(found) if each[0] > line]

    def _lines_and_changes(self) -> Iterator[tuple[int, int | None, dict[str, Any]]]:
        for pet_id, changes in giving_way(self.corrected.items()):
            yield self._lines[pet_id], pet_id, changes
        for pet, meant in giving_way(self.added):
            yield pet.line, None, {"category_id": meant, **pet.members}

    def _shown(self, line: int, pet_id: int | None, new: dict[str, Any]) -> Shown:
        there = self._texts(self.there.pets[pet_id]._asdict()) if pet_id else {}
        return Shown(line, pet_id, there, self._texts(new))

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
    is_open = sheet.with_id and "id" not in sheet.chosen
    if is_open and (text := _whose(sheet, there)):
        head = sheet.choices.columns["id"]
        options = f"--column {head}=id corrects, --column {head}= adds all as new"
        sheet.ask_whose(Question("id", text, options))
    preview = Preview(sheet, there)
    known = 0 if choices.again else _count_known(project.id, preview)
    if known > 1 and 2 * known > len(preview.added):
        text = f"{known:,} of {len(preview.added):,} animals of these names and "
        text += "categories are here already: add them again?"
        sheet.questions.append(Question("again", text, "--again"))
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
    has_ours = any(x.lower() in heads for x in sheets.HEADS if x != "id")
    if has_ours and is_named and 2 * len(known) > sheet.with_id:
        return None
    text = f"{len(known):,} of {sheet.with_id:,} numbers are animals here"
    if columns["name"]:
        text += f", {named:,} of them with that name"
    return f"{text}: correct them, or add all animals as new?"


def _count_known(project_id: int, preview: Preview) -> int:
    """Return how many new animals are like the newest ones: a file may come twice."""
    known: set[tuple[str, Meant]] = set()
    last = INT64_MAX
    for part in in_parts(range(COMPARED + 2 * len(preview.added))):
        rows = Pet.select(Pet.name, Pet.category_id, Pet.id).where(
            Pet.project == project_id, Pet.id < last
        )
        found = [*rows.order_by(Pet.id.desc()).limit(len(part)).tuples().iterator()]
        known.update((name, category_id) for name, category_id, _ in found)
        last = found[-1][2] if found else 0
    added = giving_way(preview.added)
    return sum((pet.members["name"], meant) in known for pet, meant in added)


def folded_status(text: str) -> str:
    """Return a status of another system as it is compared."""
    return comparable(seen_of(text[:MAX_STATUS_LENGTH]))


def _text(head: str, cell: str) -> str:
    if head == "name":
        return _in_one_line(lines.restored(cell))
    if head != "status" and (number := _WHOLE.fullmatch(cell.strip())):
        return number[1]
    return _in_one_line(lines.restored(cell)).strip()


def _in_one_line(text: str) -> str:
    """Return a text with blanks for the line breaks that people make in a cell."""
    return _BREAK.sub(" ", text.strip("\r\n\v"))


def _is_number(text: str | None) -> bool:
    return bool(re.fullmatch("[0-9]+", text or ""))


def _fault(line: int, error: ValidationError) -> Fault:
    faults = [f"{head} {text}" for head, text in faults_of(error).items()]
    return Fault(line, "; ".join(faults))
