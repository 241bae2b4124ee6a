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
from petstore.models.events import emit_after_commit

ENTERPRISE = "enterprise"
PLANS = ("free", "pro", "business", ENTERPRISE)
PLANS_WITH_DOMAINS = ("pro", "business", ENTERPRISE)
MAX_SLUG_LENGTH = 63
SLUG = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")

Columns = dict[str, str | int | None]


class SlugTaken(Exception):
    """Another project has that slug."""


class Project(BaseModel):
    """A tenant: it owns keys, a plan and all that its keys create."""

    id = BigAutoField()
    slug = TextField(unique=True)
    name = TextField()
    plan = TextField()
    per_minute = BigIntegerField(null=True)
    per_day = BigIntegerField(null=True)
    created_ms = BigIntegerField()

    @classmethod
    def add(cls, name: str, slug: str | None, plan: "Plan") -> Self:
        """Create a project; without a slug, the first free one made from the name.

        Raises `SlugTaken` when the given slug is in use.
        """
        wanted = slug or slug_from(name)
        attempt = 1
        while True:
            try:
                with data.atomic():
                    return cls.create(
                        name=name,
                        slug=_numbered(wanted, attempt),
                        created_ms=clock.now_ms(),
                        **plan.columns,
                    )
            except IntegrityError:
                if slug:
                    raise SlugTaken from None
                attempt += 1

    @classmethod
    def by_slug(cls, slug: str) -> Self | None:
        """The project of that slug."""
        return cls.get_or_none(cls.slug == slug)

    @classmethod
    def all_by_slug(cls) -> list[Self]:
        """Every project, in the order of the slugs."""
        return list(cls.select().order_by(cls.slug))

    @property
    def has_domains(self) -> bool:
        """Whether the plan lets the project use domains of its own."""
        return self.plan in PLANS_WITH_DOMAINS

    def change_plan(self, plan: "Plan") -> None:
        """Put the project on another plan, from its next request on."""
        self._change(plan.columns)

    def change_limits(self, **limits: int) -> None:
        """Give a project that is on Enterprise other numbers, or one of them."""
        self._change({"plan": ENTERPRISE} | limits, Project.plan == ENTERPRISE)

    def _change(self, columns: Columns, *conditions: Expression) -> None:
        change = Project.update(**columns).where(
            Project.id == self.id, _differs(columns), *conditions
        )
        if change.execute():
            emit_after_commit("plan_changed", project=self.slug, **columns)


class Plan:
    """A plan's name, with the two numbers that Enterprise alone carries."""

    def __init__(
        self, name: str, per_minute: int | None = None, per_day: int | None = None
    ) -> None:
        """Raises ValueError where the numbers do not go with the plan."""
        numbers = [n for n in (per_minute, per_day) if n is not None]
        if name == ENTERPRISE and len(numbers) < 2:
            raise ValueError("the plan enterprise needs --per-minute and --per-day")
        if name != ENTERPRISE and numbers:
            raise ValueError(
                f"the plan {name} has fixed limits; "
                "--per-minute and --per-day go with enterprise"
            )
        self.columns = {"plan": name, "per_minute": per_minute, "per_day": per_day}


def slug_from(name: str) -> str:
    """The name in a-z, 0-9 and inner hyphens; `project` where nothing is left."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")
    return slug[:MAX_SLUG_LENGTH].strip("-") or "project"


def _differs(columns: Columns) -> Expression:
    """The condition that a project has another plan, or other numbers."""
    given = {name: value for name, value in columns.items() if value}
    return reduce(or_, (getattr(Project, n) != v for n, v in given.items()))


def _numbered(slug: str, attempt: int) -> str:
    if attempt == 1:
        return slug
    suffix = f"-{attempt}"
    return slug[: MAX_SLUG_LENGTH - len(suffix)].rstrip("-") + suffix
