"""Animals and orders of a project as CSV, in parts that are read along an index."""

import csv
import io
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from typing import Any

from petstore import timeouts
from petstore.clock import rfc3339
from petstore.models.categories import Category
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.sheets.cells import defused
from petstore.storage import db

ANIMALS = ("id", "name", "categoryId", "category", "status")
ORDERS = ("id", "petId", "pet", "status", "reference", "createdAt", "updatedAt")
BEFORE_EVERY_ID = -1


def animals(project_id: int) -> Iterator[bytes]:
    """Yield the project's animals by ascending id, below a line of heads."""

    def lines(pets: list[Pet]) -> Iterator[Sequence[object]]:
        names = Category.names(project_id, {pet.category_id for pet in pets})
        for pet in pets:
            name, category = defused(pet.name), names.get(pet.category_id, "")
            yield pet.id, name, pet.category_id, defused(category), pet.status

    return _sheet(ANIMALS, project_id, Pet.page, lines)


def orders(project_id: int) -> Iterator[bytes]:
    """Yield the project's orders by ascending id, below a line of heads."""

    def lines(found: list[Order]) -> Iterator[Sequence[object]]:
        names = Pet.names(project_id, {order.pet_id for order in found})
        for order in found:
            name = defused(names.get(order.pet_id, ""))
            reference = defused(order.reference or "")
            times = rfc3339(order.created_ms), rfc3339(order.updated_ms)
            yield order.id, order.pet_id, name, order.status, reference, *times

    return _sheet(ORDERS, project_id, Order.page, lines)


def _sheet(
    heads: Sequence[str],
    project_id: int,
    read: Callable[..., list[Any]],
    lines: Callable[[list[Any]], Iterable[Sequence[object]]],
) -> Iterator[bytes]:
    yield _text([heads])
    limit, after = timeouts.LIMITS.exported_rows, BEFORE_EVERY_ID
    while True:
        # No connection is kept while the client reads, or when it has gone.
        with closing(db):
            rows = read(project_id, after=after, limit=limit, status=None)
            text = _text(lines(rows))
        if not rows:
            return
        yield text
        after = rows[-1].id
        time.sleep(timeouts.LIMITS.export_pause_seconds)


def _text(lines: Iterable[Sequence[object]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(lines)
    return text.getvalue().encode()
