"""Proofs of domains: what DNS says gives a domain to a project, or takes it away."""

from peewee import IntegrityError, fn

from petstore import clock
from petstore.database import data
from petstore.models.domains import Domain, NoSuchDomain
from petstore.models.projects import Project


def prove(domain: Domain, finding: str) -> None:
    """Give the domain to its project, and take it from the project that had it.

    Raises `NoSuchDomain` when the domain was removed meanwhile.
    """
    while True:
        try:
            with data.atomic():
                losers, is_new = _take_over(domain), _verify(domain, finding)
            break
        except IntegrityError:  # another project has proved it at the same time
            continue
    for loser in losers:
        domain.emit("domain_taken_over", loser=loser)
    if is_new:
        domain.emit("domain_verified")


def record_finding(domain: Domain, finding: str, *, is_proved: bool) -> None:
    """Store what DNS says, and since when it has pointed elsewhere.

    The domain stays with the project that owns it.
    """
    now = clock.now_ms()
    astray = None if is_proved else fn.COALESCE(Domain.astray_ms, now)
    domain.change(looked_ms=now, finding=finding, astray_ms=astray)


def _take_over(domain: Domain) -> list[str]:
    """Take the domain from other projects; return their slugs."""
    update = Domain.update(
        verified_ms=None,
        is_chosen=False,
        lost_ms=clock.now_ms(),
        certificate_asked_ms=None,
        certificate_issuer=None,
        certificate_expires_ms=None,
        certificate_fault=None,
    ).where(
        Domain.name == domain.name,
        Domain.project != domain.project_id,
        Domain.verified_ms.is_null(False),
    )
    rows = list(update.returning(Domain.project))
    return [Project.get_by_id(row.project_id).slug for row in rows]


def _verify(domain: Domain, finding: str) -> bool:
    """Mark the domain as verified; return whether it was not before."""
    now = clock.now_ms()
    columns = {"looked_ms": now, "finding": finding, "astray_ms": None}
    is_new = domain.change(
        Domain.verified_ms.is_null(), verified_ms=now, lost_ms=None, **columns
    )
    # The row is gone, so raising must roll back what was taken from other projects.
    if not is_new and not domain.change(**columns):
        raise NoSuchDomain
    return is_new
