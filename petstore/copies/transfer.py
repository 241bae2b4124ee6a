"""Copies everything to another, empty database."""

from contextlib import ExitStack

from peewee import Model

from petstore import migrator
from petstore.copies import tables
from petstore.database import Databases, Engine
from petstore.models.categories import CategoryTable
from petstore.models.domain_tokens import DomainToken
from petstore.models.domains import Domain
from petstore.models.keys import Key
from petstore.models.orders import OrderTable
from petstore.models.pets import PetTable
from petstore.models.projects import Project
from petstore.models.replies import Reply
from petstore.models.sessions import Secret, Session
from petstore.quotas.stores.database import Strike, Usage

# Tables of the data and of the counters; a table follows those that it refers to.
GROUPS = (
    (
        *(Project, Key, CategoryTable, PetTable, OrderTable),
        *(DomainToken, Domain, Reply, Secret, Session),
    ),
    (Usage, Strike),
)


class CopyRefused(Exception):
    """The target cannot be copied to; the text tells the operator why."""


def copy_all(source: Databases, target: Databases) -> int:
    """Copy all rows, with their ids, as they are at one moment; return their number.

    The target must be empty, and is migrated first. Today's counts are copied as well,
    so nobody gets a quota twice. Raises `CopyRefused`.
    """
    _require_other_database(source.data, target.data)
    migrator.migrate(target)
    _require_same_version(target)
    with ExitStack() as stack:
        for database in dict.fromkeys(source):
            stack.enter_context(tables.snapshot(database))
        for database in dict.fromkeys(target):
            stack.enter_context(database.atomic())
        _require_empty(target)
        return sum(
            _copy(table, before, after)
            for group, before, after in zip(GROUPS, source, target, strict=True)
            for table in group
        )


def _copy(table: type[Model], source: Engine, target: Engine) -> int:
    count = tables.write(target, table, tables.read(source, table))
    if tables.has_assigned_ids(table):
        tables.continue_ids_after(target, table, tables.last_id(source, table))
    return count


def _require_other_database(source: Engine, target: Engine) -> None:
    if tables.are_same(source, target):
        raise CopyRefused("it is the database of this service itself")


def _require_same_version(target: Databases) -> None:
    unknown = migrator.unknown_steps(target)
    if unknown:
        raise CopyRefused(f"it is of a newer version of the service ({unknown[0]})")


def _require_empty(target: Databases) -> None:
    for group, database in zip(GROUPS, target, strict=True):
        for table in group:
            if table.select().exists(database):
                name = table._meta.table_name
                raise CopyRefused(f"it is not empty: there are rows in {name}")
