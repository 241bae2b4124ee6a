"""Deletes the rows that are not needed any more, of all projects."""

import time
from collections.abc import Callable

from petstore import timeouts
from petstore.concurrency import call_and_log
from petstore.models import retentions
from petstore.storage import CompiledQuery, close_connections, suppress_outage

# What extensions do now and then, before anything is deleted.
_duties: list[Callable[[], None]] = []


def do_regularly(duty: Callable[[], None]) -> None:
    """Let housekeeping call a function, whose faults are logged."""
    if duty not in _duties:
        _duties.append(duty)


def delete_outdated() -> None:
    """Delete all rows that are outdated now, and finish what others have begun."""
    for duty in _duties:
        call_and_log(duty)
    # Those that refer to others come after them: they are emptied first.
    for retention in reversed(retentions):
        database = retention.model._meta.database
        call_and_log(_delete, CompiledQuery(database, retention.delete_some))


def _delete(delete_some: CompiledQuery) -> None:
    try:
        with suppress_outage():  # after one, it is tried again next time
            while len(delete_some()) == timeouts.LIMITS.deleted_rows:
                time.sleep(timeouts.LIMITS.deletion_pause_seconds)
    finally:
        close_connections()
