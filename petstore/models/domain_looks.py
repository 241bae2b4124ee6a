"""Which domains are due to be looked at, and what certificate was seen."""

from typing import NamedTuple

from peewee import Case, Expression, fn

from petstore import clock
from petstore.models.domains import Domain
from petstore.models.projects import PLANS_WITH_DOMAINS, Project

LOOK_AFTER_MS = 60 * clock.MS_PER_MINUTE
# A failed certificate is asked for again seldom enough for any authority's limits.
RETRY_AFTER_MS = 15 * clock.MS_PER_MINUTE
# When nothing has been heard of a handshake for so long, its process has ended.
GIVE_UP_AFTER_MS = 3 * clock.MS_PER_MINUTE


class Certificates(NamedTuple):
    """How many have failed, and when the first of the others expires."""

    failed: int
    expires_ms: int | None


def claim_due(project: Project | None = None) -> Domain | None:
    """A verified domain, of the project or of any, that it is time to look at.

    Of any number of workers that ask at once, one gets it, once in a while.
    """
    due = _is_due(clock.now_ms())
    if project:
        due &= Domain.project == project
    first = Domain.select(Domain.id).where(due).order_by(Domain.looked_ms).limit(1)
    claim = Domain.update(looked_ms=clock.now_ms()).where(Domain.id.in_(first), due)
    claimed = [row.id for row in claim.returning(Domain.id)]
    domains = Domain.select(Domain, Project).join(Project)
    return domains.where(Domain.id.in_(claimed)).first() if claimed else None


def ask_certificate(domain: Domain) -> None:
    """Remember that the proxy is about to be asked for the certificate."""
    domain.change(certificate_asked_ms=clock.now_ms(), certificate_fault=None)


def note_certificate(
    domain: Domain, issuer: str | None, expires_ms: int | None, fault: str | None
) -> None:
    """Remember the certificate that the proxy shows, or why there is none."""
    domain.change(
        Domain.verified_ms.is_null(False),
        certificate_issuer=issuer,
        certificate_expires_ms=expires_ms,
        certificate_fault=fault,
    )


def certificates() -> Certificates:
    """What is known of all domains that are served."""
    failed = Case(None, [(Domain.certificate_fault.is_null(False), 1)])
    sums = Domain.select(fn.COUNT(failed), fn.MIN(Domain.certificate_expires_ms))
    [row] = sums.where(_is_served()).tuples()
    return Certificates(*row)


def _is_due(now: int) -> Expression:
    has_failed = Domain.certificate_fault.is_null(False)
    is_issuing = ~has_failed & Domain.certificate_issuer.is_null()
    return _is_served() & (
        (Domain.looked_ms < now - LOOK_AFTER_MS)
        | (has_failed & (Domain.looked_ms < now - RETRY_AFTER_MS))
        | (is_issuing & (Domain.looked_ms < now - GIVE_UP_AFTER_MS))
    )


def _is_served() -> Expression:
    entitled = Project.select(Project.id).where(Project.plan.in_(PLANS_WITH_DOMAINS))
    return Domain.verified_ms.is_null(False) & Domain.project.in_(entitled)
