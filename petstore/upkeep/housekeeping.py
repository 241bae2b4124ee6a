"""Deletes the rows that are not needed any more, of all projects."""

import time
from typing import NamedTuple

from peewee import ColumnBase, Field, Model, Query

from petstore import clock, events, timeouts
from petstore.concurrency import call_and_log
from petstore.models import requests, stored_responses
from petstore.models.activity import Event
from petstore.models.keys import KEEP_ENDED_MS, Key
from petstore.models.merges import Merge
from petstore.models.requests import FAILURES_KEPT_MS, FailedRequest, KeyUsage
from petstore.models.sessions import FILE_KEPT_MS, Session, Upload
from petstore.models.stored_responses import StoredResponse
from petstore.quotas.database import Counter, Strike
from petstore.storage import CompiledQuery, close_connections, suppress_outage
from petstore.upkeep.foldings import fold_again

MERGES_AT_ONCE = 20


class Retention(NamedTuple):
    """How long the rows of a table are kept, if nothing else deletes them before."""

    model: type[Model]
    age: ColumnBase  # a time, a minute or a day, in `unit_ms`
    kept: int = 0  # units after that
    unit_ms: int = 1
    along: Field | None = None  # a column with an index, in nearly the same order

    def delete_some(self) -> Query:
        """Delete outdated rows among the oldest, except those that others lock."""
        model = self.model
        database = model._meta.database
        # All hosts have the clock of the database, so none deletes too early.
        now = database.now_ms / self.unit_ms
        key = database.row_id(model)
        oldest = model.select(*key).order_by(self.along or self.age)
        few = database.skip_locked(oldest.limit(timeouts.LIMITS.deleted_rows))
        is_outdated = database.is_among(key, few) & (self.age < now - self.kept)
        return model.delete().where(is_outdated).returning(*key)


TABLES = (
    Retention(Session, Session.ends_ms),
    Retention(Upload, Upload.at_ms, FILE_KEPT_MS),
    Retention(StoredResponse, StoredResponse.created_ms, stored_responses.KEPT_MS),
    Retention(Event, Event.at_ms, events.KEPT_MS),
    Retention(
        FailedRequest, FailedRequest.at_ms, FAILURES_KEPT_MS, 1, FailedRequest.id
    ),
    Retention(KeyUsage, KeyUsage.day, requests.SHOWN_DAYS - 1, clock.MS_PER_DAY),
    Retention(Key, Key.ends(), KEEP_ENDED_MS),
    # A clock may be set back into a window, but not by hours.
    Retention(Counter, Counter.ends_ms, clock.MS_PER_DAY // 2),
    Retention(Strike, Strike.minute, 60, unit_ms=clock.MS_PER_MINUTE),
)


def delete_outdated() -> None:
    """Delete all rows that are outdated now, and finish what others have begun."""
    call_and_log(_finish_merges)
    for table in TABLES:
        query = CompiledQuery(table.model._meta.database, table.delete_some)
        call_and_log(_delete, query)
    call_and_log(fold_again)


def _finish_merges() -> None:
    try:
        with suppress_outage():
            for merge in list(Merge.select().limit(MERGES_AT_ONCE)):
                call_and_log(Merge.carry_out, merge.project_id, merge.source)
    finally:
        close_connections()


def _delete(delete_some: CompiledQuery) -> None:
    try:
        with suppress_outage():  # after one, it is tried again next time
            while len(delete_some()) == timeouts.LIMITS.deleted_rows:
                time.sleep(timeouts.LIMITS.deletion_pause_seconds)
    finally:
        close_connections()
