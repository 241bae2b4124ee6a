"""Deletes a project together with its counters."""

import time
from collections.abc import Sequence

from peewee import Field, IntegrityError, Tuple, chunked

from petstore import timeouts
from petstore.models.activity import Activity
from petstore.models.categories import CategoryTable
from petstore.models.domains import Domain, DomainToken
from petstore.models.failed_requests import FailedRequest
from petstore.models.key_usage import KeyUsage
from petstore.models.keys import Key
from petstore.models.limited_actions import LimitedAction
from petstore.models.orders import OrderTable
from petstore.models.pets import PetTable
from petstore.models.projects import Project
from petstore.models.sessions import Session
from petstore.models.stored_responses import StoredResponse
from petstore.quotas.storages.database import Counter, Strike
from petstore.quotas.subjects import key_subject, project_subject
from petstore.storage import db

# Each table that refers to projects, by the columns of an index that begins with the
# project. A table follows those that refer to it.
TABLES: tuple[tuple[Field, ...], ...] = (
    (Key.project, Key.id),
    (DomainToken.project,),
    (Domain.project, Domain.id),
    (Activity.project, Activity.id),
    (LimitedAction.project, LimitedAction.action, LimitedAction.subject),
    (FailedRequest.project, FailedRequest.id),
    (StoredResponse.project, StoredResponse.path, StoredResponse.key),
    (OrderTable.project, OrderTable.id),
    (PetTable.project, PetTable.id),
    (CategoryTable.project, CategoryTable.id),
)
ROUNDS = 10


def delete_project(project: Project) -> None:
    """Stop a project at once, and then delete its rows, in batches.

    It is for commands, since it may take minutes. The next call finishes what was
    interrupted. Counters in Redis expire by themselves.
    """
    with db.atomic():
        project.mark_deleted()
        # They are few, and the next request must not find one.
        Domain.delete().where(Domain.project == project).execute()
    for rounds_left in reversed(range(ROUNDS)):
        try:
            _delete_rows(project.id)
            return
        except IntegrityError:
            # A request that was under way has added a row meanwhile.
            if not rounds_left:
                raise


def _delete_rows(project_id: int) -> None:
    keys = [key.id for key in Key.select(Key.id).where(Key.project == project_id)]
    for some in chunked(keys, timeouts.LIMITS.deleted_rows):
        Strike.delete().where(Strike.key_id.in_(some)).execute()
        names = [key_subject(project_id, key) for key in some]
        Counter.delete().where(Counter.subject.in_(names)).execute()
    subject = project_subject(project_id)
    Counter.delete().where(Counter.subject == subject).execute()
    for key in keys:
        _delete_in_batches((Session.key, Session.digest), key)
        _delete_in_batches((KeyUsage.key, KeyUsage.day), key)
    for columns in TABLES:
        _delete_in_batches(columns, project_id)
    Project.delete().where(Project.id == project_id).execute()


def _delete_in_batches(columns: Sequence[Field], value: int) -> None:
    """Delete the rows that have the value in the first column, along its index.

    Each batch begins where the last one has ended: PostgreSQL would read the deleted
    rows of an index again.
    """
    model, rest = columns[0].model, columns[0] == value
    while True:
        with db.atomic():
            rows = model.select(*columns).where(rest).order_by(*columns)
            last = rows.offset(timeouts.LIMITS.deleted_rows - 1).limit(1)
            ends = list(last.tuples())
            batch = [Tuple(*columns) <= Tuple(*end) for end in ends]
            model.delete().where(rest, *batch).execute()
        if not ends:
            return
        rest = (Tuple(*columns) > Tuple(*ends[0])) & (columns[0] <= value)
        time.sleep(timeouts.LIMITS.deletion_pause_seconds)
