"""Copies everything to another, empty database."""

from collections.abc import Sequence
from contextlib import ExitStack, closing
from graphlib import TopologicalSorter

from peewee import ForeignKeyField, Model

from petstore.storage import migrator, tables
from petstore.storage.database import (
    BaseModel,
    CounterModel,
    Databases,
    databases_at,
    opened_databases,
)


class CopyError(Exception):
    """The target cannot be copied to; the text tells the operator why."""


def copy_to(url: str) -> None:
    """Copy all rows of the service to the database at a URL; see `copy_all`."""
    with closing(databases_at(url, prepares_statements=False)) as target:
        target.extend_timeouts()
        copy_all(opened_databases(), target)


def copy_all(source: Databases, target: Databases) -> None:
    """Copy all rows, with their ids, as they are at one moment.

    The target must be empty, and is migrated first. Today's counts are copied as well,
    so nobody gets a quota twice. Raises `CopyError`.
    """
    migrator.migrate(target)
    _require_same_version(target)
    with ExitStack() as stack:
        for database in dict.fromkeys(source):
            stack.enter_context(database.snapshot())
        for database in dict.fromkeys(target):
            stack.enter_context(database.atomic())
        _require_empty(target)
        for group, old, new in zip(table_groups(), source, target, strict=True):
            for table in group:
                tables.copy(table, old, new)


def _require_same_version(target: Databases) -> None:
    unknown = migrator.unknown_steps(target)
    if unknown:
        raise CopyError(f"it is of a newer version of the service ({unknown[0]})")


def _require_empty(target: Databases) -> None:
    for group, database in zip(table_groups(), target, strict=True):
        for table in group:
            if table.select().exists(database):
                name = table._meta.table_name
                raise CopyError(f"it is not empty: there are rows in {name}")


def table_groups() -> tuple[list[type[Model]], list[type[Model]]]:
    """Return the tables of the data and those of the counters.

    A table follows those that it refers to.
    """
    return _sorted(BaseModel.__subclasses__()), _sorted(CounterModel.__subclasses__())


def _sorted(group: Sequence[type[Model]]) -> list[type[Model]]:
    references = {
        table: [
            field.rel_model
            for field in table._meta.sorted_fields
            if isinstance(field, ForeignKeyField)
        ]
        for table in group
    }
    return list(TopologicalSorter(references).static_order())
