"""Hosts: which project a host name belongs to, found with one query for a request."""

from typing import NamedTuple, Self

from peewee import Query

from petstore.models.domains import Domain, primary_name
from petstore.models.plans import PLANS_WITH_DOMAINS
from petstore.models.projects import Project
from petstore.storage import data, slot, statement


class Host(NamedTuple):
    """The project that a host serves, and the host to redirect its clients to."""

    project_id: int | None  # None: every project; the key decides
    moved_to: str | None = None

    @classmethod
    def of_slug(cls, slug: str) -> Self | None:
        """Return the generated subdomain of a project, which never redirects."""
        rows = _select_by_slug(slug=slug)
        return cls(*rows[0]) if rows else None

    @classmethod
    def of_domain(cls, name: str) -> Self | None:
        """Return the host of a verified domain, if its project's plan has domains."""
        for project_id, primary in _select_by_name(name=name):
            return cls(project_id, primary if primary != name else None)
        return None


@statement(data)
def _select_by_slug() -> Query:
    is_slug = Project.slug == slot("slug")
    return Project.select(Project.id).where(is_slug, Project.deleted_ms.is_null())


@statement(data)
def _select_by_name() -> Query:
    return (
        Domain.select(Domain.project, primary_name())
        .join(Project)
        .where(
            Domain.name == slot("name"),
            Domain.verified_ms.is_null(False),
            Project.plan.in_(PLANS_WITH_DOMAINS),
        )
    )
