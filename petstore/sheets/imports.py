"""Animals in a CSV file: all are added and corrected in one transaction, or none is.

A file is read (`Sheet`), compared with what the project has (`There`), and from both
follows what it would do (`Plan`). All that only reads; `store` then does it.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple, Self

from marshmallow import ValidationError

from petstore.events import emit_after_commit
from petstore.models import RuleError
from petstore.models.categories import Category, comparable
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Project, refuse_rows, take_rows
from petstore.schemas import faults_of
from petstore.sheets.lines import FIELDS, Fault, in_parts, read_lines, restored
from petstore.storage import db

# A category: its number, or the folded name of a new one that has no number yet.
Meant = int | str


class LinesAtFault(RuleError):
    text = "Nothing was done, since the animals have changed: look at the lines below."

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__()
        self.faults = faults


class FilePet(NamedTuple):
    """An animal of a file: a new one, or what a line says of the one with the id."""

    line: int
    id: int | None
    category_id: int | None
    category: str | None  # its name, or the number again
    members: dict[str, Any]  # the others


class Sheet:
    """The animals of a file, and what is wrong with its lines.

    Raises `NotReadable`.
    """

    def __init__(self, content: bytes) -> None:
        self.faults: list[Fault] = []
        self._pets: list[FilePet] = []
        for number, cells in read_lines(content, self.faults):
            try:
                self._pets.append(_pet(number, cells))
            except ValidationError as error:
                self.faults.append(_fault(number, error))
        self.ids = {x.id for x in self if x.id is not None}
        self.numbers = {x.category_id for x in self if x.category_id is not None}
        self.names = {x.category for x in self if x.category}

    def __iter__(self) -> Iterator[FilePet]:
        """Yield the animals; others go on between parts of them."""
        return chain.from_iterable(in_parts(self._pets))


class There(NamedTuple):
    """What a project has of what a file names."""

    pets: dict[int, Pet]
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
        numbers = {pet.category_id for pet in there.pets.values()}
        for some in in_parts(sheet.numbers | numbers):
            there.names.update(Category.known(project_id, some))
        for names in in_parts(sheet.names):
            there.numbers.update(Category.ids_by_name(project_id, names))
        return there


class Plan:
    """What a file does to a project that has this: it depends on nothing else."""

    def __init__(self, sheet: Sheet, there: There) -> None:
        self.sheet, self.there = sheet, there
        self.faults = [*sheet.faults]
        self.added: list[dict[str, Any]] = []
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

    def require_no_fault(self) -> None:
        if self.faults:
            raise LinesAtFault(self.faults)

    def _find_new_categories(self) -> None:
        """Find those with a number first, since new names take none of these."""
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
                self.added.append(pet.members | self._category(pet, None))
            elif changes := self._changes(pet, pet.id):
                self.corrected[pet.id] = changes
        except ValidationError as error:
            self.faults.append(_fault(pet.line, error))

    def _changes(self, pet: FilePet, pet_id: int) -> dict[str, Any]:
        """Return what a line says that differs from what is there."""
        if (there := self.there.pets.get(pet_id)) is None:
            text = f"there is no animal {pet_id}; to add it, leave the column id out"
            raise ValidationError({"id": text})
        if (line := self._lines.setdefault(pet_id, pet.line)) != pet.line:
            raise ValidationError({"id": f"{pet_id} stands in line {line} already"})
        changes = {
            name: value
            for name, value in pet.members.items()
            if value != getattr(there, name)
        }
        if "status" in changes and (order_id := self.there.orders.get(pet_id)):
            order = f"the animal {pet_id} has the open order {order_id}"
            raise ValidationError({"status": f"{order}: complete or cancel it first"})
        return changes | self._category(pet, there.category_id)

    def _category(self, pet: FilePet, current: int | None) -> dict[str, Meant]:
        """Return the category that a line means, unless the animal has it."""
        number: Any = pet.category_id
        name = pet.category
        meant: set[Any] = {number, self._named(name, number, current) if name else None}
        meant -= {None, current}
        if len(meant) > 1:
            known = self._names.get(number) or "otherwise"
            text = f"the category {number} is named {known}, not {name}"
            raise ValidationError({"categoryId": text})
        return {"category_id": meant.pop()} if meant else {}

    def _named(self, name: str, *likely: Any) -> Meant:
        """Return the category that has a name, or will have it, or the number."""
        folded = comparable(name)
        for number in likely:
            if comparable(self._names.get(number) or "") == folded:
                return int(number)
        if _is_number(name):
            return int(name)
        numbers = self._numbers[folded]
        if len(numbers) > 1:
            both = " and ".join(map(str, numbers))
            text = f"{both} are all named {name}; give the number"
            raise ValidationError({"category": text})
        return numbers[0]


def foresee(project: Project, sheet: Sheet) -> Plan:
    """Return what a file would do to the project as it is; raises `ProjectFull`."""
    plan = Plan(sheet, There.of(project.id, sheet))
    if not project.has_room(plan.rows):
        refuse_rows(project.id, plan.rows)
    return plan


def store(project: Project, plan: Plan) -> Plan:
    """Do what a file says to the project as it is by now, and return what was done.

    Raises `LinesAtFault` and `ProjectFull`.
    """
    plan.require_no_fault()
    with db.atomic():
        # From here on no animal, order or category comes or goes.
        take_rows(project.id, 0)
        if (there := There.of(project.id, plan.sheet)) != plan.there:
            plan = Plan(plan.sheet, there)
            plan.require_no_fault()
        take_rows(project.id, plan.rows)
        _write(project.id, plan)
        facts: dict[str, Any] = {"animals": len(plan.added)}
        facts["corrected"] = len(plan.corrected)
        if any(facts.values()):
            emit_after_commit("animals_imported", project=project.slug, **facts)
    return plan


def _write(project_id: int, plan: Plan) -> None:
    numbers: dict[Any, int] = {}  # of new categories

    def numbered(members: dict[str, Any]) -> dict[str, Any]:
        number = numbers.get(members.get("category_id"))
        return members if number is None else members | {"category_id": number}

    for categories in in_parts(plan.numbered.items()):
        Category.add_numbered(project_id, dict(categories))
    for categories in in_parts(plan.named.items()):
        for folded, name in categories:
            numbers[folded] = Category.add_next(project_id, name)
    for pets in in_parts(plan.added):
        Pet.add_many(project_id, map(numbered, pets))
    for corrected in in_parts(plan.corrected.items()):
        changes = {pet_id: numbered(members) for pet_id, members in corrected}
        Pet.correct_many(project_id, changes)


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
    apart = {name: members.pop(name, None) for name in FilePet._fields[1:4]}
    return FilePet(number, **apart, members=members)


def _is_number(text: str | None) -> bool:
    return bool(re.fullmatch("[0-9]+", text or ""))


def _fault(line: int, error: ValidationError) -> Fault:
    faults = [f"{head}: {text}" for head, text in faults_of(error).items()]
    return Fault(line, "; ".join(faults))
