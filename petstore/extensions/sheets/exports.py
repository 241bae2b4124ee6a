"""Animals and orders of a project as CSV, in parts that are read along an index."""

import csv
import io
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from typing import Any, NamedTuple

from peewee import fn

from petstore import timeouts
from petstore.extensions.sheets.lines import defused
from petstore.extensions.sheets.models import names_by
from petstore.models import BEFORE_ALL
from petstore.models.categories import Category
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.schemas import ResourceSchema
from petstore.schemas.orders import OrderSchema
from petstore.schemas.pets import PetSchema
from petstore.storage import db


class Export(NamedTuple):
    """A resource, with one more column: the names of what one of its ids refers to."""

    read: Callable[..., list[Any]]
    schema: ResourceSchema
    id: str  # the member that refers to it; the names are in the next column
    head: str  # of the next column
    find_names: Callable[[int, list[Any]], dict[int, Any]]  # by ids


def animals(project_id: int, separator: str = ",") -> Iterator[bytes]:
    names = "categoryId", "category", _names_of_categories
    return _parts(Export(Pet.page, PetSchema(many=True), *names), project_id, separator)


def orders(project_id: int, separator: str = ",") -> Iterator[bytes]:
    names = "petId", "pet", _names_of_pets
    export = Export(Order.page, OrderSchema(many=True), *names)
    return _parts(export, project_id, separator)


def _names_of_categories(project_id: int, pets: list[Any]) -> dict[int, str | None]:
    return names_by(Category.id, {pet.category_id for pet in pets}, project_id)


def _names_of_pets(project_id: int, orders: list[Any]) -> dict[int, str]:
    # A range: to list some hundred ids takes Peewee a quarter of the export's time.
    own, first, last = (Order.project, project_id), orders[0].id, orders[-1].id
    name = Pet.select(Pet.name).where(Pet.id == Order.pet_id)
    names = Order.select(Order.pet_id, fn.COALESCE(name, Order.pet_name)).where(
        db.along_index([own], Order.id >= first, Order.id <= last)
    )
    return dict(names.tuples().iterator())


def _parts(export: Export, project_id: int, separator: str) -> Iterator[bytes]:
    heads = [each.data_key or name for name, each in export.schema.fields.items()]
    place = heads.index(export.id) + 1
    heads.insert(place, export.head)
    yield _text([heads], separator)
    limit, after = timeouts.LIMITS.exported_rows, BEFORE_ALL
    while True:
        # No connection is kept while the client reads, or when it has gone.
        with closing(db):
            rows = export.read(project_id, after=after, limit=limit)
            if not rows:
                return
            dumped = export.schema.dump(rows)
            names = export.find_names(project_id, rows)
        lines = []
        for members in dumped:
            values = [*members.values()]
            values.insert(place, names.get(members[export.id], ""))
            lines.append(values)
        yield _text(lines, separator)
        after = rows[-1].id
        time.sleep(timeouts.LIMITS.export_pause_seconds)


def _text(lines: Iterable[Iterable[Any]], separator: str) -> bytes:
    text = io.StringIO(newline="")
    plain = csv.writer(text, delimiter=separator)
    # A program that separates by commas anyway finds fewer of them.
    quoted = csv.writer(text, delimiter=separator, quoting=csv.QUOTE_ALL)
    for line in lines:
        cells = [defused(x, separator) if isinstance(x, str) else x for x in line]
        has_comma = separator != "," and any("," in str(cell) for cell in cells)
        (quoted if has_comma else plain).writerow(cells)
    return text.getvalue().encode()
