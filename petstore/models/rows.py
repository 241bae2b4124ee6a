"""How many rows a project holds: its animals, orders and categories together."""

from peewee import Case, Query

from petstore.models import RuleError
from petstore.models.plans import PLANS
from petstore.models.projects import Project
from petstore.storage import db, slot, statement


class ProjectFull(RuleError):
    """The project holds as many rows as it may.

    It is no `Conflict`: a retry may find that there is room again.
    """

    code = "project_full"


class TooManyAnimals(ProjectFull):
    """A file has more animals than the project has room for."""

    text = (
        "The project is full: it may hold {:,} animals, orders and categories together "
        "and has room for {:,}, but the file adds {:,}."
    )


def take_rows(project_id: int, rows: int = 1) -> None:
    """Count rows that this transaction adds, or deletes where the number is negative.

    Call it before it changes any of the project's rows: from then on, others that add
    or delete some wait for its end, so that ids are committed in their order. Raises
    `ProjectFull`.
    """
    if _take(project=project_id, rows=rows):
        return
    project = Project.get_or_none(id=project_id)
    if project is None:
        return  # it was deleted: what refers to it is refused
    limit = project.row_limit or 0
    if rows == 1:
        raise ProjectFull(limit)
    raise TooManyAnimals(limit, max(0, limit - (project.rows_held or 0)), rows)


@statement(db)
def _take() -> Query:
    held = Project.rows_held + slot("rows")
    of_plans = [(name, terms.rows) for name, terms in PLANS.items() if terms.rows]
    limit = Case(Project.plan, of_plans, Project.max_rows)
    # Until they were counted for the first time, it is not known how many there are.
    is_unlimited = Project.rows_held.is_null() | limit.is_null()
    return (
        Project.update(rows_held=held)
        .where(
            Project.id == slot("project"),
            is_unlimited | (held <= limit) | (slot("rows") <= 0),
        )
        .returning(Project.id)
    )
