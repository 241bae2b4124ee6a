"""Folds texts again that a release before this one has folded for searches."""

import time
from functools import partial
from typing import Any

from peewee import Query, Select

from petstore import timeouts
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.searching import is_outdated, searchable
from petstore.storage import (
    CompiledQuery,
    close_connections,
    db,
    placeholder,
    suppress_outage,
)
from petstore.storage.lists import BEFORE_ALL

# The folded columns of each table, with those that they are made of.
FOLDED = {
    Pet: {"folded": "name"},
    Order: {"folded": "reference", "pet_folded": "pet_name"},
}


def fold_again() -> None:
    """Fold all outdated texts again, in batches; any number of processes may do so."""
    try:
        with suppress_outage():  # after one, it is tried again next time
            for model in FOLDED:
                find = CompiledQuery(db, partial(_select_outdated, model))
                after = BEFORE_ALL
                while ids := _fold_some(model, find, after):
                    after = ids[-1]
                    time.sleep(timeouts.LIMITS.deletion_pause_seconds)
    finally:
        close_connections()


def _fold_some(model: Any, find: CompiledQuery, after: int) -> list[int]:
    """Fold the texts of the next rows; return their ids."""
    names = FOLDED[model]
    with db.atomic():
        # Only then are the rows read, since others may have changed them before.
        ids = [number for (number,) in find(after=after)]
        rows = list(model.select().where(model.id.in_(ids)))
        for row in rows:
            for column, text in names.items():
                if getattr(row, column) is not None:
                    setattr(row, column, searchable(getattr(row, text) or ""))
        if rows:
            model.bulk_update(rows, [*names])
    return ids


def _select_outdated(model: Any) -> Query:
    columns = [getattr(model, name) for name in FOLDED[model]]
    is_next = is_outdated(*columns) & (model.id > placeholder("after"))
    few: Select = model.select(model.id).where(is_next).order_by(model.id)
    query: Query = db.skip_locked(few.limit(timeouts.LIMITS.deleted_rows))
    return query
