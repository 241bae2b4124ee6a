"""Projects: the tenants, each with a plan."""

import re
import unicodedata
from dataclasses import asdict, dataclass
from typing import Any, Self

import peewee
from peewee import Case, ColumnBase, Expression, Query, Update

from petstore import clock
from petstore.models import RuleError
from petstore.models.activity import emit_after_commit
from petstore.models.plans import PLANS, LimitMissing, Quota, quota_of
from petstore.storage import BaseModel, compiled, db, placeholder

MAX_SLUG_LENGTH = 63
TAKEN = "The slug {} is taken by another project."
RETIRED = (
    "The slug {} belonged to a project that was deleted. No slug is given twice: "
    "names of others may still point at its host."
)


class ProjectFull(RuleError):
    """The project holds as many rows as it may.

    It is no `Conflict`: a retry may find that there is room again.
    """

    code = "project_full"


@dataclass(frozen=True)
class Plan:
    """A plan, with the limits of a project on a plan that has none itself.

    Such a project needs two limits of requests; a limit of rows is optional. Raises
    `RuleError` for too few or too many.
    """

    plan: str
    per_minute: int | None = None
    per_day: int | None = None
    max_rows: int | None = None

    def __post_init__(self) -> None:
        requests = [n for n in (self.per_minute, self.per_day) if n is not None]
        if not PLANS[self.plan].quota and len(requests) < 2:
            text = "The plan {} needs a limit per minute and a limit per day."
            raise LimitMissing(self.plan, text=text)
        if PLANS[self.plan].quota and (requests or self.max_rows is not None):
            raise RuleError(self.plan, text="The limits of the plan {} are fixed.")


class Project(BaseModel):
    """A tenant: it owns its keys, its plan and everything that its keys create."""

    id = peewee.BigAutoField()
    slug = peewee.TextField(unique=True)
    name = peewee.TextField()
    plan = peewee.TextField()
    per_minute = peewee.BigIntegerField(null=True)  # if the plan has no limits itself
    per_day = peewee.BigIntegerField(null=True)
    created_ms = peewee.BigIntegerField()
    max_rows = peewee.BigIntegerField(null=True)  # if the plan has no limit itself
    rows_held: Any = peewee.BigIntegerField(null=True)  # animals, orders, categories
    # Since when its rows are being deleted.
    deleted_ms = peewee.BigIntegerField(null=True)
    suspended_ms = peewee.BigIntegerField(null=True)  # since when nothing is served

    @classmethod
    def add(cls, name: str, slug: str | None, plan: Plan) -> Self:
        """Create a project, with a new slug from its name if none is given.

        Raises `RuleError` for a slug that another project has, or had.
        """
        base = slug or slug_from(name)
        attempt = 1
        while True:
            try:
                return cls._add(name, _numbered(base, attempt), plan)
            except peewee.IntegrityError:
                if slug:
                    text = TAKEN if cls.find_by_slug(slug) else RETIRED
                    raise RuleError(slug, text=text) from None
                attempt += 1

    @classmethod
    def _add(cls, name: str, slug: str, plan: Plan) -> Self:
        with db.atomic():
            Slug.create(slug=slug)
            columns = asdict(plan) | {"rows_held": 0, "created_ms": clock.now_ms()}
            return cls.create(name=name, slug=slug, **columns)

    @classmethod
    def find_by_slug(cls, slug: str) -> Self | None:
        """Return the project with that slug, unless it is being deleted."""
        return cls.get_or_none(cls.slug == slug, cls.deleted_ms.is_null())

    @classmethod
    def find_being_deleted(cls, slug: str) -> Self | None:
        """Return the project that had that slug, if its rows are not all deleted."""
        return cls.get_or_none(cls.slug == slug, cls.deleted_ms.is_null(False))

    @classmethod
    def all_by_slug(cls) -> list[Self]:
        return list(cls.select().where(cls.deleted_ms.is_null()).order_by(cls.slug))

    @property
    def row_limit(self) -> int | None:
        """How many animals, orders and categories it may hold; None: any number."""
        return PLANS[self.plan].rows or self.max_rows

    @property
    def quota(self) -> Quota:
        return quota_of(self.plan, self.per_minute, self.per_day)

    @property
    def has_domains(self) -> bool:
        return PLANS[self.plan].has_domains

    def rename(self, name: str) -> None:
        self._change("name_changed", {"name": name})

    def change_plan(self, plan: Plan) -> None:
        self._change("plan_changed", asdict(plan))

    def change_terms(self, **limits: int | None) -> None:
        """Change some terms of a project that has its own; None leaves one."""
        given = {name: limit for name, limit in limits.items() if limit is not None}
        is_on_plan = Project.plan == self.plan
        self._change("plan_changed", {"plan": self.plan, **given}, is_on_plan)

    @property
    def is_suspended(self) -> bool:
        return self.suspended_ms is not None

    def mark_deleted(self) -> None:
        """End its keys and its subdomain on their very next request."""
        update = Project.update(deleted_ms=clock.now_ms()).where(
            Project.id == self.id, Project.deleted_ms.is_null()
        )
        if update.execute():
            emit_after_commit("project_deleted", project=self.slug)

    def _change(
        self, event: str, columns: dict[str, Any], *conditions: Expression
    ) -> None:
        """Change columns, if one differs and the conditions hold."""
        with db.atomic():
            db.lock_until_commit(self.id)  # nobody changes them meanwhile
            old = Project.get_or_none(*conditions, id=self.id)
            was = {name: getattr(old, name) for name in columns if old}
            if old and was != columns:
                Project.update(columns).where(Project.id == self.id).execute()
                facts: dict[str, Any] = {"project": self.slug, **columns, "was": was}
                emit_after_commit(event, **facts)


class Slug(BaseModel):
    """A slug that a project has, or had before it was deleted."""

    slug = peewee.TextField(primary_key=True)


def slug_from(name: str) -> str:
    """Return the name in a-z, 0-9 and inner hyphens; `project` if nothing is left."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")
    return slug[:MAX_SLUG_LENGTH].strip("-") or "project"


def _numbered(slug: str, attempt: int) -> str:
    if attempt == 1:
        return slug
    suffix = f"-{attempt}"
    return slug[: MAX_SLUG_LENGTH - len(suffix)].rstrip("-") + suffix


def take_rows(project_id: int, rows: int = 1) -> None:
    """Count rows that this transaction adds, or deletes if the number is negative.

    Call it before it changes any of the project's rows: from then on, others that add
    or delete some wait for its end, so that ids are committed in their order. Raises
    `ProjectFull`.
    """
    if not _count_rows(project=project_id, rows=rows):
        refuse_rows(project_id)


def refuse_rows(project_id: int) -> None:
    """Raise `ProjectFull`, unless the project was deleted.

    If it was, the statement that adds a row fails.
    """
    if project := Project.get_or_none(id=project_id):
        raise ProjectFull(project.row_limit)


PROJECT = placeholder("project")


def count_if_room(rows: Any, project: ColumnBase = PROJECT) -> Update:
    """Build an update that counts rows if they fit; it waits for earlier writers."""
    held = Project.rows_held + rows
    of_plans = [(name, terms.rows) for name, terms in PLANS.items() if terms.rows]
    limit = Case(Project.plan, of_plans, Project.max_rows)
    has_room = limit.is_null() | (held <= limit) | (rows <= 0)
    is_turn = (Project.id == project) & db.lock_condition(project)
    return Project.update(rows_held=held).where(is_turn, has_room)


@compiled(db)
def _count_rows() -> Query:
    return count_if_room(placeholder("rows")).returning(Project.id)
