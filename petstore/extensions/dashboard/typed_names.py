"""Which category people mean by a name that they type.

A new name may be much like that of a category, as `Hund` is like `Hunde`.
"""

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress

from peewee import SQL, fn

from petstore import randomness
from petstore.extensions.dashboard.forms import FieldError
from petstore.extensions.dashboard.histories import find_removal, removal_text
from petstore.extensions.dashboard.schemas import NEW
from petstore.models import BEFORE_ALL
from petstore.models.categories import Category, comparable
from petstore.models.projects import take_rows
from petstore.models.searching import folded
from petstore.storage import Row, db

MAX_NEW_ID = 2**53 - 1  # which JavaScript and spreadsheets read exactly
MAX_COMPARED = 1_000  # categories whose names are compared with a new one
_ENDING = re.compile("(?:en|es|er|e|n|s)$")
# Names with so many letters are alike even if one letter differs, or is missing.
_LONG = 5


class CategoryNameTaken(FieldError):
    field = "name"
    text = "The category {} has this name already."

    def __init__(self, category: Row) -> None:
        super().__init__(f"{category.name} (no. {category.id})")
        self.choices = {str(category.id): category.name}


class CategoryUnclear(FieldError):
    """Two categories have the name that somebody has typed."""

    field = "categoryId"
    text = "is the name of two categories: choose {} or {}"

    def __init__(self, labels: Mapping[int, str]) -> None:
        super().__init__(*labels.values())
        self.choices = {str(each): f"Take {label}" for each, label in labels.items()}


class CategoryAlike(FieldError):
    """A new name is much like that of a category, so it may be a mistake."""

    field = "categoryId"
    text = "There is the category {} already."

    def __init__(self, alike: Row, name: str) -> None:
        super().__init__(alike.name)
        self.choices = {
            str(alike.id): f"Take {alike.name} (no. {alike.id})",
            NEW: f"Add the category {name}",
        }


class CategoryGone(FieldError):
    """A person has chosen a category by a number that none has, or none any more."""

    def __init__(self, project_id: int, category_id: int, field: str = "") -> None:
        removal = find_removal(project_id, "category", category_id)
        reason = removal_text(project_id, removal) if removal else "Choose another one."
        text = "There is no category {}. {}"
        super().__init__(category_id, reason, text=text)
        self.field = field
        into = json.loads(removal.facts).get("into") if removal else None
        if into is not None and Category.find_own(project_id, into):
            label = labels_of(project_id, [into])[into]
            self.choices = {str(into): f"Take {label}"}


def require_category(project_id: int, category_id: int, field: str = "") -> Row:
    """Return a category, which nobody deletes until the transaction ends.

    Raises `CategoryGone`, with a field of a form that is at fault.
    """
    take_rows(project_id, 0)
    if category := Category.find_own(project_id, category_id):
        return category
    raise CategoryGone(project_id, category_id, field)


def typed_category(
    project_id: int, category: int | str, *, is_new: bool = False
) -> tuple[int, bool]:
    """Return the id of the category that a number or a name means.

    The second value is whether a category of that name was added. Raises
    `CategoryGone`, `CategoryUnclear`, `ProjectFull` for a new one, and `CategoryAlike`
    for a new name that is like an old one, unless `is_new` says that it is meant. Call
    it in the transaction that uses the category.
    """
    if isinstance(category, int):
        return require_category(project_id, category, "categoryId").id, False
    while not (ids := ids_named(project_id, category)):
        if not is_new and (found := similar_categories(project_id, [category])):
            raise CategoryAlike(found[category], category)
        with suppress(CategoryNameTaken):  # somebody else was faster
            return new_category(project_id, category), True
    if len(ids) > 1:
        raise CategoryUnclear(labels_of(project_id, ids))
    return ids[0], False


def new_category(project_id: int, name: str) -> int:
    """Add a category, and return its id; raises `CategoryNameTaken`, `ProjectFull`."""
    with db.atomic():
        take_rows(project_id, 0)  # two that name the same wait for each other
        require_free(project_id, name)
        is_own = (Category.project == project_id) & (Category.id <= MAX_NEW_ID)
        last = Category.select(fn.MAX(Category.id)).where(is_own).scalar()
        number = 1 if last is None else last + 1
        while number > MAX_NEW_ID or not Category.ensure(project_id, number, name):
            number = randomness.source.randrange(MAX_NEW_ID)  # lower ones are free
        return number


def require_free(project_id: int, name: str, category_id: int | None = None) -> None:
    """Raise `CategoryNameTaken` if another category has the name."""
    for each in {*ids_named(project_id, name)} - {category_id}:
        raise CategoryNameTaken(Category.get_own(project_id, each))


def ids_named(project_id: int, name: str) -> list[int]:
    """Return the ids of categories with that name in any case, at most two."""
    rows = Category.select(Category.id).where(
        Category.project == project_id, Category.folded == comparable(name)
    )
    return sorted(row.id for row in rows.limit(2))


def labels_of(project_id: int, ids: Iterable[int]) -> dict[int, str]:
    """Return what people call these categories, by id.

    That is the name, with the number where two have the same.
    """
    unnamed = {each: f"Category {each}" for each in ids}
    other = Category.alias()
    has_name = (other.project == project_id) & (other.folded == Category.folded)
    shared = other.select(SQL("1")).where(has_name, other.id != Category.id)
    rows = Category.select(*Category.columns(), fn.EXISTS(shared)).where(
        Category.project == project_id, Category.id.in_(list(unnamed))
    )
    named: Iterable[tuple[int, str | None, bool]] = rows.tuples().iterator()
    return unnamed | {
        number: f"{name} (no. {number})" if is_shared else name
        for number, name, is_shared in named
        if name is not None
    }


def similar_categories(project_id: int, names: Iterable[str]) -> dict[str, Row]:
    """Return those of the names that are much like a category's, with that category.

    Only the first `MAX_COMPARED` categories are compared.
    """
    first = Category.page(project_id, after=BEFORE_ALL, limit=MAX_COMPARED)
    rows = {row.name: row for row in first if row.name}
    return {name: rows[other] for name, other in find_similar(names, rows).items()}


def find_similar(names: Iterable[str], others: Iterable[str]) -> dict[str, str]:
    """Return the names that are much like one of the others, each with that one."""
    known = [(_plain(other), other) for other in others]
    found = ((name, _first(_plain(name), known)) for name in names)
    return {name: other for name, other in found if other}


def _first(text: str, known: list[tuple[str, str]]) -> str | None:
    stem = _ENDING.sub("", text)
    for other, name in known:
        if _ENDING.sub("", other) == stem or _is_letter_apart(text, other):
            return name
    return None


def _plain(name: str) -> str:
    """Return a name without case, accents and blanks."""
    return "".join(folded(name).split())


def _is_letter_apart(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if len(short) < _LONG or len(long) > len(short) + 1:
        return False
    place = next((n for n, x in enumerate(short) if x != long[n]), len(short))
    return long[place + 1 :] in (short[place:], short[place + 1 :])
