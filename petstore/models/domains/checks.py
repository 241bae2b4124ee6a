"""Checks of domains: which are due, and what certificate was found."""

from typing import NamedTuple

from peewee import Expression, fn

from petstore import clock
from petstore.models.domains import Domain
from petstore.models.plans import PLANS_WITH_DOMAINS
from petstore.models.projects import Project

CHECK_AFTER_MS = 60 * clock.MS_PER_MINUTE
# Seldom enough for the limits of any certificate authority.
RETRY_AFTER_MS = 15 * clock.MS_PER_MINUTE
# A handshake without a result for this long belonged to a process that has ended.
GIVE_UP_AFTER_MS = 3 * clock.MS_PER_MINUTE


class CertificateSummary(NamedTuple):
    """How many certificates have failed, and when the first of the others expires."""

    failed: int
    expires_ms: int | None


def claim_due(project: Project | None = None) -> Domain | None:
    """Claim a domain that is due for a check, of the project or of any project.

    Of the workers that ask at the same time, one gets the domain.
    """
    due = _is_due(clock.now_ms())
    if project:
        due &= Domain.project == project
    first = Domain.select(Domain.id).where(due).order_by(Domain.checked_ms).limit(1)
    claim = Domain.update(checked_ms=clock.now_ms()).where(Domain.id.in_(first), due)
    claimed = [row.id for row in claim.returning(Domain.id)]
    if not claimed:
        return None
    domains = Domain.select(Domain, Project).join(Project)
    return next(iter(domains.where(Domain.id.in_(claimed))), None)


def record_handshake(domain: Domain) -> None:
    """Record that the proxy is about to be asked for the certificate."""
    domain.change(certificate_requested_ms=clock.now_ms(), certificate_fault=None)


def record_certificate(
    domain: Domain, issuer: str | None, expires_ms: int | None, fault: str | None
) -> None:
    """Record the certificate that the proxy presents, or why there is none."""
    domain.change(
        Domain.verified_ms.is_null(False),
        certificate_issuer=issuer,
        certificate_expires_ms=expires_ms,
        certificate_fault=fault,
    )


def certificate_summary() -> CertificateSummary:
    """Summarise the certificates of all domains that are served."""
    query = Domain.select(
        fn.COUNT(Domain.certificate_fault),  # where it is not null
        fn.MIN(Domain.certificate_expires_ms),
    )
    return CertificateSummary(*query.where(_is_served()).scalar(as_tuple=True))


def _is_due(now: int) -> Expression:
    has_failed = Domain.certificate_fault.is_null(False)
    is_issuing = ~has_failed & Domain.certificate_issuer.is_null()
    return _is_served() & (
        (Domain.checked_ms < now - CHECK_AFTER_MS)
        | (has_failed & (Domain.checked_ms < now - RETRY_AFTER_MS))
        | (is_issuing & (Domain.checked_ms < now - GIVE_UP_AFTER_MS))
    )


def _is_served() -> Expression:
    entitled = Project.select(Project.id).where(Project.plan.in_(PLANS_WITH_DOMAINS))
    return Domain.verified_ms.is_null(False) & Domain.project.in_(entitled)
