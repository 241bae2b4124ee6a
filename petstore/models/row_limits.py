"""How many rows a project may hold: its animals, orders and categories together.

A request that adds a row only looks the project up in a dictionary. The rows are
counted in the background, a few at a time, for projects that want to add some. Every
process finds the result in the row of the project: within a minute, all know if it is
full.
"""

import time
from contextlib import closing, suppress

import peewee
from peewee import Field, chunked

from petstore import clock, timeouts
from petstore.concurrency import start
from petstore.models import RuleError
from petstore.models.projects import Project
from petstore.storage import Statement, count_statement, db

PROJECTS_AT_ONCE = 100
BEFORE_EVERY_ID = -1
# An animal and its category, and as much again: while the counter store is away,
# several hosts serve more requests than the limit.
ROWS_OF_REQUEST = 4


class ProjectFull(RuleError):
    """The project holds as many rows as it may.

    It is no `Conflict`: a retry may find that there is room again.
    """

    code = "project_full"


class TooManyRows(ProjectFull):
    """A file adds more rows than the project has room for."""

    text = (
        "The project is full: it may hold {:,} animals, orders and categories together "
        "and has room for {:,}, but the file adds {:,}."
    )


class RowLimits:
    """What a process knows of full projects; it may be lost."""

    def __init__(self) -> None:
        self._counts: list[Statement] = []
        self._full: dict[int, int] = {}  # the limit of each full project
        self._adding: set[int] = set()  # projects that may become full
        self._changed: set[int] = set()  # projects to be counted in any case
        self._is_counting = False

    def include(self, key: Field) -> None:
        """Count the rows of a table, along its index of the project and this key."""
        self._counts.append(count_statement(key))

    def require_room(self, project_id: int) -> None:
        """Raise `ProjectFull` if the project is known to be full.

        The request may add as many rows as `ROWS_OF_REQUEST`.
        """
        self._adding.add(project_id)
        self._start()
        if project_id in self._full:
            raise ProjectFull(self._full[project_id])

    def require_room_for(self, project: Project, rows: int) -> None:
        """Raise `TooManyRows` unless there is room for so many rows, as counted now.

        It takes a second for a project that holds a million rows.
        """
        limit = project.row_limit
        if limit is None:
            return
        used = 0
        for count in self._counts:
            used += _count(count, project.id, limit - used)
        if used + rows > limit:
            raise TooManyRows(limit, max(0, limit - used), rows)

    def count_soon(self, project_id: int) -> None:
        """Have the rows counted: many were added, some deleted, or a person asks."""
        self._changed.add(project_id)
        self._start()

    def forget(self) -> None:
        """Forget all projects."""
        self._full.clear()
        self._adding.clear()
        self._changed.clear()

    def count(self) -> None:
        """Count the rows of projects that may have become full, or have room again.

        Full ones are looked up in any case: the operator may have changed the limit,
        and another process may have counted.
        """
        ids = self._adding | self._changed | self._full.keys()
        # While the database is away, nothing is forgotten.
        with suppress(peewee.DatabaseError):
            for some in chunked(ids, PROJECTS_AT_ONCE):
                self._look_up(set(some))

    def _start(self) -> None:
        if not self._is_counting:
            self._is_counting = True
            start(self._count_regularly)

    def _count_regularly(self) -> None:
        try:
            while self._adding or self._changed or self._full:
                time.sleep(timeouts.LIMITS.count_seconds)
                with closing(db):
                    self.count()
        finally:
            self._is_counting = False

    def _look_up(self, ids: set[int]) -> None:
        found = Project.select().where(Project.id.in_(ids))
        limited = {each: each.row_limit for each in found if each.row_limit}
        for project, limit in limited.items():
            if self._is_due(project, limit):
                self._count_rows(project, limit)
        full = {each.id: limit for each, limit in limited.items() if each.is_full}
        for project_id in ids - full.keys():
            self._full.pop(project_id, None)
        for project_id in ids - {each.id for each in limited}:
            self._drop(project_id)  # it has no limit, or was deleted
        self._full |= full

    def _is_due(self, project: Project, limit: int) -> bool:
        """Return whether the rows must be counted now.

        Counting costs more than adding rows, so it is put off until a project may be
        full, by the requests that it may have sent since it was counted last.
        """
        if project.rows_counted_ms is None:
            return True
        age_ms = abs(clock.now_ms() - project.rows_counted_ms)
        age_seconds = age_ms / clock.MS_PER_SECOND
        if age_seconds < timeouts.LIMITS.recount_seconds:
            return False  # another process has counted
        if project.id in self._changed:
            return True
        if project.is_full:
            return age_seconds >= timeouts.LIMITS.full_seconds
        minutes = 1 + age_ms / clock.MS_PER_MINUTE
        most_added = ROWS_OF_REQUEST * project.quota.per_minute * minutes
        return (project.rows_used or 0) + most_added >= limit

    def _count_rows(self, project: Project, limit: int) -> None:
        self._drop(project.id)  # first, since it may add rows meanwhile
        rows = 0
        try:
            for count in self._counts:
                rows += _count(count, project.id, limit - rows)
            project.record_rows(rows)
        except peewee.DatabaseError:
            self._changed.add(project.id)
            raise

    def _drop(self, project_id: int) -> None:
        self._adding.discard(project_id)
        self._changed.discard(project_id)


def _count(count: Statement, project_id: int, limit: int) -> int:
    """Count the rows of a table; stop some time after the limit."""
    rows, after = 0, BEFORE_EVERY_ID
    at_once = timeouts.LIMITS.counted_rows
    while rows < limit:
        [(found, last)] = count(project=project_id, after=after, limit=at_once)
        rows, after = rows + found, last
        time.sleep(timeouts.LIMITS.count_pause_seconds)
        if found < at_once:
            break
    return rows


row_limits = RowLimits()
