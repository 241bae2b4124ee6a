"""Hosts: which project a host name belongs to, found with one query for a request."""

from typing import NamedTuple, Self

from peewee import Query

from petstore import clock
from petstore.models.domains import (
    EXPIRES_AFTER_MS,
    REDIRECTS_END_AFTER_MS,
    Domain,
    points_here_since,
    primary_name,
)
from petstore.models.plans import PLANS_WITH_DOMAINS
from petstore.models.projects import Project
from petstore.storage import db, slot, statement


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
        """Return the host of a verified domain, if its project's plan has domains.

        DNS must point there, or must have until a while ago.
        """
        now = clock.now_ms()
        rows = _select_by_name(
            name=name,
            oldest_served_ms=now - EXPIRES_AFTER_MS,
            oldest_primary_ms=now - REDIRECTS_END_AFTER_MS,
        )
        for project_id, primary in rows:
            return cls(project_id, primary if primary != name else None)
        return None


@statement(db)
def _select_by_slug() -> Query:
    is_slug = Project.slug == slot("slug")
    return Project.select(Project.id).where(is_slug, Project.deleted_ms.is_null())


@statement(db)
def _select_by_name() -> Query:
    return (
        Domain.select(Domain.project, primary_name(slot("oldest_primary_ms")))
        .join(Project)
        .where(
            Domain.name == slot("name"),
            Domain.verified_ms.is_null(False),
            points_here_since(slot("oldest_served_ms")),
            Project.plan.in_(PLANS_WITH_DOMAINS),
        )
    )
