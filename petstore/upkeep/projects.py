"""Suspends projects, and counts and deletes what belongs to them."""

import time
from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

from peewee import ForeignKeyField, IntegrityError, Tuple

from petstore import models, quotas, timeouts
from petstore.models.domains import Domain
from petstore.models.keys import Key
from petstore.models.projects import Project, take_rows
from petstore.models.sessions import Session
from petstore.storage import BaseModel, db
from petstore.storage.copies import table_groups

ROUNDS = 10  # of deleting, while requests that are under way add rows


def set_suspended(project: Project, is_suspended: bool) -> None:
    """Suspend or resume a project, and end its sessions with the files that wait.

    Sessions can begin while it is suspended: in release 1.3.0, or with a sign-in that
    was under way. These end when it is resumed.
    """
    with db.atomic():
        if project.set_suspended(is_suspended):
            Session.end_all(project.id)


def import_tables() -> None:
    """Import each module with tables: Peewee knows no table before that."""
    for package in (models, quotas):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)


def count_rows(project: Project) -> None:
    """Count the rows that a plan limits: those of the models with `is_limited`."""
    import_tables()
    tables: list[Any] = BaseModel.__subclasses__()
    limited = [each for each in tables if getattr(each._meta, "is_limited", False)]
    with db.atomic():
        take_rows(project.id, 0)  # others that add some wait
        project.rows_held = sum(
            each.select().where(each.project == project).count() for each in limited
        )
        project.save(only=[Project.rows_held])


def delete_project(project: Project) -> None:
    """Stop a project at once, and then delete its rows, in batches.

    It is for commands, since it may take minutes. The next call finishes what was
    interrupted. Counters of requests are deleted later, when they are outdated.
    """
    with db.atomic():
        project.mark_deleted()
        # The domains are few, and the next request must not find one.
        Domain.delete().where(Domain.project == project).execute()
    for rounds_left in reversed(range(ROUNDS)):
        try:
            _delete_rows(project.id)
            return
        except IntegrityError:
            if not rounds_left:
                raise


def _delete_rows(project_id: int) -> None:
    keys = [key.id for key in Key.select(Key.id).where(Key.project == project_id)]
    for field in _references():
        for value in [project_id] if field.rel_model is Project else keys:
            _delete_in_batches(field, value)
    Project.delete().where(Project.id == project_id).execute()


def _references() -> Iterator[ForeignKeyField]:
    """Yield the columns that refer to a project or a key, of dependent tables first."""
    import_tables()
    tables, _ = table_groups()
    for table in reversed(tables):
        for field in table._meta.sorted_fields:
            if isinstance(field, ForeignKeyField) and field.rel_model in (Project, Key):
                yield field


def _delete_in_batches(field: ForeignKeyField, value: int) -> None:
    """Delete the rows whose column has the value, in the order of its index.

    Each batch begins where the last one has ended. Otherwise PostgreSQL would read the
    deleted rows of the index again.
    """
    model, rest = field.model, field == value
    columns = list(dict.fromkeys([field, *model._meta.get_primary_keys()]))
    while True:
        with db.atomic():
            rows = model.select(*columns).where(rest).order_by(*columns)
            last = rows.offset(timeouts.LIMITS.deleted_rows - 1).limit(1)
            ends = list(last.tuples())
            batch = [Tuple(*columns) <= Tuple(*end) for end in ends]
            model.delete().where(rest, *batch).execute()
        if not ends:
            return
        rest = (Tuple(*columns) > Tuple(*ends[0])) & (field <= value)
        time.sleep(timeouts.LIMITS.deletion_pause_seconds)
