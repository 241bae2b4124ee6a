"""All that a service keeps, taken to another database."""

from contextlib import ExitStack

from peewee import Database, Model

from petstore import migrator
from petstore.copies import tables
from petstore.database import Databases
from petstore.models.categories import Category
from petstore.models.domain_tokens import DomainToken
from petstore.models.domains import Domain
from petstore.models.keys import Key
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Project
from petstore.models.replies import Reply
from petstore.models.secrets import Secret
from petstore.models.sessions import Session
from petstore.models.usage import Strike, Usage

# Of the data and of the counters; what refers to another table comes after it.
GROUPS = (
    (
        *(Project, Key, Category, Pet, Order),
        *(DomainToken, Domain, Reply, Secret, Session),
    ),
    (Usage, Strike),
)


class CopyRefused(Exception):
    """The target is none that can be copied to; the text says why, to the operator."""


def copy_all(source: Databases, target: Databases) -> int:
    """Copy all rows as they are at one moment, ids kept; how many there were.

    The target is brought to the present schema first; it must be empty. Today's counts
    are among the rows, so nobody gets a quota twice. Raises `CopyRefused`.
    """
    _require_another(source.data, target.data)
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


def _copy(table: type[Model], source: Database, target: Database) -> int:
    count = tables.write(target, table, tables.read(source, table))
    if tables.has_ids_of_its_own(table):
        tables.go_on_after(target, table, tables.last_id(source, table))
    return count


def _require_another(source: Database, target: Database) -> None:
    if tables.are_one(source, target):
        raise CopyRefused("it is the database of this service itself")


def _require_same_version(target: Databases) -> None:
    unknown = migrator.unknown_steps(target)
    if unknown:
        raise CopyRefused(f"it is of a newer version of the service ({unknown[0]})")


def _require_empty(target: Databases) -> None:
    for group, database in zip(GROUPS, target, strict=True):
        for table in group:
            if not tables.is_empty(database, table):
                name = table._meta.table_name
                raise CopyRefused(f"it is not empty: there are rows in {name}")
