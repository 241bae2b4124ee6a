"""Deletes the rows that are not needed any more, of all projects."""

import time

from petstore import timeouts
from petstore.concurrency import call_and_log
from petstore.models import retentions
from petstore.models.merges import Merge
from petstore.storage import CompiledQuery, close_connections, suppress_outage
from petstore.upkeep.foldings import fold_again

MERGES_AT_ONCE = 20


def delete_outdated() -> None:
    """Delete all rows that are outdated now, and finish what others have begun."""
    call_and_log(_finish_merges)
    # Those that refer to others come after them: they are emptied first.
    for retention in reversed(retentions):
        database = retention.model._meta.database
        call_and_log(_delete, CompiledQuery(database, retention.delete_some))
    call_and_log(fold_again)


def _finish_merges() -> None:
    try:
        with suppress_outage():
            for merge in list(Merge.select().limit(MERGES_AT_ONCE)):
                call_and_log(Merge.carry_out, merge.project_id)
    finally:
        close_connections()


def _delete(delete_some: CompiledQuery) -> None:
    try:
        with suppress_outage():  # after one, it is tried again next time
            while len(delete_some()) == timeouts.LIMITS.deleted_rows:
                time.sleep(timeouts.LIMITS.deletion_pause_seconds)
    finally:
        close_connections()
