"""Projects: the tenants, each with a plan."""

import re
import unicodedata
from functools import reduce
from operator import or_
from typing import Self

from peewee import (
    BigAutoField,
    BigIntegerField,
    Expression,
    IntegrityError,
    TextField,
)

from petstore import clock
from petstore.database import BaseModel, data
from petstore.events import emit_after_commit
from petstore.models import Refused

ENTERPRISE = "enterprise"
PLANS = ("free", "pro", "business", ENTERPRISE)
PLANS_WITH_DOMAINS = ("pro", "business", ENTERPRISE)
MAX_SLUG_LENGTH = 63
SLUG = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")

Columns = dict[str, str | int | None]


class SlugTaken(Refused):
    """Another project has that slug."""


class LimitsMissing(Refused):
    """A project on Enterprise needs limits of its own."""


class LimitsFixed(Refused):
    """The limits of every plan but Enterprise are fixed."""


class Plan:
    """A plan, with the two limits that Enterprise alone carries."""

    def __init__(
        self, name: str, per_minute: int | None = None, per_day: int | None = None
    ) -> None:
        """Raises `LimitsMissing` and `LimitsFixed`."""
        limits = [n for n in (per_minute, per_day) if n is not None]
        if name == ENTERPRISE and len(limits) < 2:
            raise LimitsMissing
        if name != ENTERPRISE and limits:
            raise LimitsFixed
        self.columns: Columns = {
            "plan": name,
            "per_minute": per_minute,
            "per_day": per_day,
        }


class Project(BaseModel):
    """A tenant: it owns its keys, its plan and everything that its keys create."""

    id = BigAutoField()
    slug = TextField(unique=True)
    name = TextField()
    plan = TextField()
    per_minute = BigIntegerField(null=True)  # on Enterprise alone, like the next
    per_day = BigIntegerField(null=True)
    created_ms = BigIntegerField()

    @classmethod
    def add(cls, name: str, slug: str | None, plan: Plan) -> Self:
        """Create a project; without a slug, with the first free one from the name.

        Raises `SlugTaken` when the given slug is in use.
        """
        base = slug or slug_from(name)
        attempt = 1
        while True:
            try:
                with data.atomic():
                    return cls.create(
                        name=name,
                        slug=_numbered(base, attempt),
                        created_ms=clock.now_ms(),
                        **plan.columns,
                    )
            except IntegrityError:
                if slug:
                    raise SlugTaken from None
                attempt += 1

    @classmethod
    def by_slug(cls, slug: str) -> Self | None:
        """Return the project with that slug."""
        return cls.get_or_none(cls.slug == slug)

    @classmethod
    def all_by_slug(cls) -> list[Self]:
        """Return every project, ordered by slug."""
        return list(cls.select().order_by(cls.slug))

    @property
    def has_domains(self) -> bool:
        """Whether the plan lets the project use its own domains."""
        return self.plan in PLANS_WITH_DOMAINS

    def change_plan(self, plan: Plan) -> None:
        """Change the plan, from the next request on."""
        self._change(plan.columns)

    def change_limits(
        self, *, per_minute: int | None = None, per_day: int | None = None
    ) -> None:
        """Change one or both limits of a project on Enterprise; None leaves one."""
        limits = {"per_minute": per_minute, "per_day": per_day}
        columns: Columns = {"plan": ENTERPRISE}
        columns |= {name: limit for name, limit in limits.items() if limit is not None}
        self._change(columns, Project.plan == ENTERPRISE)

    def _change(self, columns: Columns, *conditions: Expression) -> None:
        update = Project.update(**columns).where(
            Project.id == self.id, _differs(columns), *conditions
        )
        if update.execute():
            emit_after_commit("plan_changed", project=self.slug, **columns)


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


def _differs(columns: Columns) -> Expression:
    """Return the condition that a project has another plan or other limits."""
    given = {name: value for name, value in columns.items() if value}
    return reduce(
        or_, [getattr(Project, name) != value for name, value in given.items()]
    )
