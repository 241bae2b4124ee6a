"""How many rows a project may hold: its animals, orders and categories together.

A request that adds a row only looks the project up in a dictionary. The rows are
counted in the background, a few at a time, for projects that want to add some. Every
process finds the result in the row of the project: within a minute, all know if it is
full.
"""

import asyncio

import peewee
from peewee import Field, chunked

from petstore import clock
from petstore.models import RuleError
from petstore.models.paging import count_statement
from petstore.models.projects import Project
from petstore.server import await_result, start_in_background, timeouts
from petstore.storage import Statement

PROJECTS_AT_ONCE = 100
BEFORE_EVERY_ID = -1


class ProjectFull(RuleError):
    """The project holds as many rows as it may.

    It is no `Conflict`: a retry may find that there is room again.
    """

    code = "project_full"


class RowLimits:
    """What a process knows of full projects; it may be lost."""

    def __init__(self) -> None:
        self._counts: list[Statement] = []
        self._full: dict[int, int] = {}  # the limit of each full project
        self._adding: set[int] = set()  # projects to be counted
        self._is_counting = False

    def include(self, key: Field) -> None:
        """Count the rows of a table, along its index of the project and this key."""
        self._counts.append(count_statement(key))

    def require_room(self, project_id: int) -> None:
        """Raise `ProjectFull` if the project is known to be full."""
        self.count_soon(project_id)
        if project_id in self._full:
            raise ProjectFull(self._full[project_id])

    def count_soon(self, project_id: int) -> None:
        """Have the rows of the project counted in the background."""
        self._adding.add(project_id)
        if not self._is_counting:
            self._is_counting = True
            start_in_background(self._count_regularly)

    def forget(self) -> None:
        """Forget all projects."""
        self._full.clear()
        self._adding.clear()

    def count(self) -> None:
        """Count the rows of the projects that want to add some.

        Projects that are full are looked up as well: the operator may have changed the
        limit, and another process may have counted again.
        """
        adding = set(self._adding)
        self._adding -= adding
        try:
            for ids in chunked(adding | self._full.keys(), PROJECTS_AT_ONCE):
                self._look_up(set(ids), adding)
        except peewee.DatabaseError:
            self._adding |= (
                adding  # the database is away, so they are counted next time
            )

    def _count_regularly(self) -> None:
        try:
            while self._adding or self._full:
                await_result(asyncio.sleep(timeouts.LIMITS.count_seconds))
                self.count()
        finally:
            self._is_counting = False

    def _look_up(self, ids: set[int], adding: set[int]) -> None:
        full = {}
        for project in Project.select().where(Project.id.in_(ids)):
            limit = project.row_limit
            if limit is not None and project.id in adding:
                self._count_rows(project, limit)
            if limit is not None and project.is_full:
                full[project.id] = limit
        for project_id in ids - full.keys():
            self._full.pop(project_id, None)
        self._full |= full

    def _count_rows(self, project: Project, limit: int) -> None:
        age_ms = abs(clock.now_ms() - (project.rows_counted_ms or 0))
        if age_ms < timeouts.LIMITS.recount_seconds * clock.MS_PER_SECOND:
            # Another process has counted, but perhaps before the last row was added.
            self._adding.add(project.id)
            return
        rows = 0
        for count in self._counts:
            rows += _count(count, project.id, limit - rows)
        project.record_rows(rows)


def _count(count: Statement, project_id: int, limit: int) -> int:
    """Count the rows of a table; stop some time after the limit."""
    rows, after = 0, BEFORE_EVERY_ID
    at_once = timeouts.LIMITS.counted_rows
    while rows < limit:
        [(found, last)] = count(project=project_id, after=after, limit=at_once)
        rows, after = rows + found, last
        await_result(asyncio.sleep(timeouts.LIMITS.count_pause_seconds))
        if found < at_once:
            break
    return rows


row_limits = RowLimits()
