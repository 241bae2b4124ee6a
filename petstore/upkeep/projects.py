"""Suspends projects, and counts and deletes what belongs to them."""

import time

from peewee import Column, IntegrityError, Table, Tuple

from petstore import clock, timeouts
from petstore.models.activity import emit_after_commit
from petstore.models.categories import Category
from petstore.models.keys import Key
from petstore.models.orders import Order
from petstore.models.pets import Pet
from petstore.models.projects import Project, take_rows
from petstore.storage import db

# Its model is the dashboard's, which may be away.
SESSIONS = Table("session")
ROUNDS = 10  # of deleting, while requests that are under way add rows


def set_suspended(project: Project, is_suspended: bool) -> None:
    """Suspend or resume a project, and end its sessions with the files that wait.

    A session can begin while it is suspended, with a sign-in that was under way. It
    ends when the project is resumed.
    """
    suspended_ms = clock.now_ms() if is_suspended else None
    update = Project.update(suspended_ms=suspended_ms).where(
        Project.id == project.id, Project.suspended_ms.is_null(is_suspended)
    )
    with db.atomic():
        if update.execute():
            keys = Key.select(Key.id).where(Key.project == project)
            SESSIONS.delete().where(Column(SESSIONS, "key_id").in_(keys)).execute(db)
            event = "project_suspended" if is_suspended else "project_resumed"
            emit_after_commit(event, project=project.slug)


def count_rows(project: Project) -> None:
    """Count the rows that a plan limits."""
    with db.atomic():
        take_rows(project.id, 0)  # others that add some wait
        project.rows_held = sum(
            model.select().where(model.project == project).count()
            for model in (Pet, Order, Category)
        )
        project.save(only=[Project.rows_held])


def delete_project(project: Project) -> None:
    """Stop a project at once, and then delete its rows, in batches.

    It is for commands, since it may take minutes. The next call finishes what was
    interrupted. Counters of requests are deleted later, when they are outdated.
    """
    project.mark_deleted()
    for rounds_left in reversed(range(ROUNDS)):
        try:
            _delete_rows(project.id)
            return
        except IntegrityError:
            if not rounds_left:
                raise


def _delete_rows(project_id: int) -> None:
    """Delete all rows that refer to the project or to its keys.

    The database says which do, not the models: those of an extension that is away are
    not loaded, but its rows are there.
    """
    keys = [key.id for key in Key.select(Key.id).where(Key.project == project_id)]
    for owner, ids in ((Key, keys), (Project, [project_id])):
        for name in db.get_tables():
            for foreign in db.get_foreign_keys(name):
                if foreign.dest_table == owner._meta.table_name:
                    names = dict.fromkeys([foreign.column, *db.get_primary_keys(name)])
                    for each in ids:
                        _delete_in_batches(Table(name), [*names], each)
    Project.delete().where(Project.id == project_id).execute()


def _delete_in_batches(table: Table, names: list[str], value: int) -> None:
    """Delete the rows whose first column has the value, in the order of its index.

    Each batch begins where the last one has ended. Otherwise PostgreSQL would read the
    deleted rows of the index again.
    """
    columns = [Column(table, name) for name in names]
    rest = columns[0] == value
    while True:
        with db.atomic():
            rows = table.select(*columns).where(rest).order_by(*columns)
            last = rows.offset(timeouts.LIMITS.deleted_rows - 1).limit(1)
            ends = list(last.tuples().execute(db))
            batch = [Tuple(*columns) <= Tuple(*end) for end in ends]
            table.delete().where(rest, *batch).execute(db)
        if not ends:
            return
        rest = (Tuple(*columns) > Tuple(*ends[0])) & (columns[0] <= value)
        time.sleep(timeouts.LIMITS.deletion_pause_seconds)
