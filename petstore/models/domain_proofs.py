"""What DNS says of a domain makes it a project's own, or shows that it went astray."""

from peewee import IntegrityError, fn

from petstore import clock
from petstore.database import data
from petstore.models.domains import Domain
from petstore.models.projects import Project


def prove(domain: Domain, finding: str) -> None:
    """Give the domain to its project, whoever had it before.

    Of two who prove it at once, the unique index lets one wait for the other.
    """
    while True:
        try:
            with data.atomic():
                losers, is_new = _take_over(domain), _verify(domain, finding)
            break
        except IntegrityError:
            continue
    for loser in losers:
        domain.tell("domain_taken_over", loser=loser)
    if is_new:
        domain.tell("domain_verified")


def note(domain: Domain, finding: str, *, is_proved: bool) -> None:
    """Remember what DNS says, without giving the domain to anyone or taking it.

    While DNS points elsewhere, it is remembered since when.
    """
    now = clock.now_ms()
    astray = None if is_proved else fn.COALESCE(Domain.astray_ms, now)
    domain.change(looked_ms=now, finding=finding, astray_ms=astray)


def _take_over(domain: Domain) -> list[str]:
    """Take the domain from those who have it; their slugs."""
    lost = Domain.update(
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
    rows = list(lost.returning(Domain.project))
    return [Project.get_by_id(row.project_id).slug for row in rows]


def _verify(domain: Domain, finding: str) -> bool:
    """Whether the domain was not verified before."""
    now = clock.now_ms()
    seen = {"looked_ms": now, "finding": finding, "astray_ms": None}
    is_new = domain.change(
        Domain.verified_ms.is_null(), verified_ms=now, lost_ms=None, **seen
    )
    # Where the row is gone, nothing must be taken from anyone: this rolls it back.
    if not is_new and not domain.change(**seen):
        raise Domain.DoesNotExist
    return is_new
