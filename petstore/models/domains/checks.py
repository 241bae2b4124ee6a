"""Checks of domains: which are due, what DNS proves, what certificate was found."""

from collections.abc import Collection
from typing import Any, NamedTuple

from peewee import SQL, Expression, IntegrityError, fn

from petstore import clock
from petstore.events import emit_after_commit
from petstore.events.activity import ITSELF
from petstore.models import RuleError
from petstore.models.domains import (
    EXPIRES_AFTER_MS,
    Domain,
    NoSuchDomain,
    points_here_since,
)
from petstore.models.limited_actions import LimitedAction
from petstore.models.plans import PLANS_WITH_DOMAINS
from petstore.models.projects import Project
from petstore.storage import db

# A failed certificate is tried again as seldom: authorities limit the failures an hour.
CHECK_AFTER_MS = 60 * clock.MS_PER_MINUTE
# A handshake without a result for this long belonged to a process that has ended.
GIVE_UP_AFTER_MS = 3 * clock.MS_PER_MINUTE


class TooManyNewDomains(RuleError):
    """The project has proved as many new domains as it may in a day."""

    text = (
        "The project has verified {} new domains today, which is the limit. "
        "The next day begins at 00:00 UTC."
    )


class CertificateSummary(NamedTuple):
    """How many certificates have failed, and when the first of the others expires."""

    failed: int
    expires_ms: int | None


def due_projects(besides: Collection[int], *, limit: int) -> list[int]:
    """Return the projects that have a domain due for a check, the longest due first."""
    query = (
        Domain.select(Domain.project)
        .where(_is_due(clock.now_ms()), Domain.project.not_in(list(besides)))
        .group_by(Domain.project)
        .order_by(fn.MIN(Domain.checked_ms), fn.MIN(Domain.id))
        .limit(limit)
    )
    return [row.project_id for row in query]


def claim_due(project_id: int) -> Domain | None:
    """Claim the domain of a project that has been due for a check for longest.

    Of the workers that ask at the same time, one gets the domain.
    """
    due = _is_due(clock.now_ms()) & (Domain.project == project_id)
    by_age = Domain.select(Domain.id).where(due).order_by(Domain.checked_ms, Domain.id)
    first = by_age.limit(1)
    claim = Domain.update(checked_ms=clock.now_ms()).where(Domain.id.in_(first), due)
    claimed = [row.id for row in claim.returning(Domain.id)]
    if not claimed:
        return None
    domains = Domain.select(Domain, Project).join(Project)
    return next(iter(domains.where(Domain.id.in_(claimed))), None)


def prove(domain: Domain, finding: str, *, most_new: int) -> None:
    """Give the domain to its project, and take it from the project that had it.

    A project proves at most `most_new` names for the first time in a UTC day. Raises
    `TooManyNewDomains`, and `NoSuchDomain` when the domain was removed meanwhile.
    """
    while True:
        try:
            with db.atomic():
                db.lock_until_commit(domain.project_id)
                _count_if_new(domain, most_new)
                _take_over(domain)
                _verify(domain, finding)
            break
        except IntegrityError:  # another project has proved it at the same time
            continue


def record_finding(domain: Domain, finding: str, *, is_proved: bool | None) -> None:
    """Store what DNS says, and since when it has pointed elsewhere.

    DNS that does not answer (None) says nothing about that. The domain stays with the
    project that owns it.
    """
    now = clock.now_ms()
    columns: dict[str, Any] = {"checked_ms": now, "finding": finding}
    if is_proved is not None:
        since = None if is_proved else fn.COALESCE(Domain.misdirected_since_ms, now)
        columns["misdirected_since_ms"] = since
    domain.change(**columns)


def record_handshake(domain: Domain) -> None:
    """Record that the proxy is about to be asked for the certificate."""
    domain.change(certificate_requested_ms=clock.now_ms(), certificate_fault=None)


def record_certificate(
    domain: Domain,
    issuer: str | None,
    expires_ms: int | None,
    fault: str | None,
    detail: str | None = None,
) -> None:
    """Record the certificate that the proxy presents, or why there is none.

    The same fault again is no event. Its detail is for the operator alone.
    """
    columns = {"issuer": issuer, "expires_ms": expires_ms, "fault": fault}
    columns = {f"certificate_{name}": value for name, value in columns.items()}
    with db.atomic():
        is_recorded = domain.change(Domain.verified_ms.is_null(False), **columns)
        if is_recorded and fault and fault != domain.certificate_fault:
            domain.emit("certificate_failed", by=ITSELF, reason=fault, detail=detail)


def certificate_summary() -> CertificateSummary:
    """Summarise the certificates of all domains that are served."""
    query = Domain.select(
        fn.COUNT(Domain.certificate_fault),  # where it is not null
        fn.MIN(Domain.certificate_expires_ms),
    )
    return CertificateSummary(*query.where(_is_served()).scalar(as_tuple=True))


def _is_due(now: int) -> Expression:
    is_issuing = (
        Domain.misdirected_since_ms.is_null()
        & Domain.certificate_fault.is_null()
        & Domain.certificate_issuer.is_null()
    )
    # Once it has expired, a domain is checked one last time.
    since = Domain.misdirected_since_ms
    was_served = since.is_null() | (Domain.checked_ms < since + EXPIRES_AFTER_MS)
    is_due: Expression = (_is_entitled() & was_served) & (
        (Domain.checked_ms < now - CHECK_AFTER_MS)
        | (is_issuing & (Domain.checked_ms < now - GIVE_UP_AFTER_MS))
    )
    return is_due


def _is_served() -> Expression:
    return _is_entitled() & points_here_since(clock.now_ms() - EXPIRES_AFTER_MS)


def _is_entitled() -> Expression:
    # SQLite would read all projects for `IN`, even for the domains of one.
    entitled = Project.select(SQL("1")).where(
        Project.id == Domain.project, Project.plan.in_(PLANS_WITH_DOMAINS)
    )
    return Domain.verified_ms.is_null(False) & fn.EXISTS(entitled)


def _count_if_new(domain: Domain, most: int) -> None:
    current = Domain.get_or_none(Domain.id == domain.id)
    if current is None:  # its project may be gone, too, so nothing could be counted
        raise NoSuchDomain
    if current.verified_ms or current.lost_ms:
        return
    today_ms = clock.now_ms() // clock.MS_PER_DAY * clock.MS_PER_DAY
    if not LimitedAction.record(
        domain.project_id, "prove_domain", domain.name, since_ms=today_ms, most=most
    ):
        raise TooManyNewDomains(most)


def _take_over(domain: Domain) -> None:
    """Take the domain from the projects that have it."""
    update = Domain.update(
        verified_ms=None,
        is_chosen=False,
        lost_ms=clock.now_ms(),
        certificate_requested_ms=None,
        certificate_issuer=None,
        certificate_expires_ms=None,
        certificate_fault=None,
    ).where(
        Domain.name == domain.name,
        Domain.project != domain.project_id,
        Domain.verified_ms.is_null(False),
    )
    for row in list(update.returning(Domain.project)):
        loser = Project.get_by_id(row.project_id).slug
        domain.emit("domain_taken_over", loser=loser)
        emit_after_commit("domain_lost", by=ITSELF, project=loser, domain=domain.name)


def _verify(domain: Domain, finding: str) -> None:
    """Mark the domain as verified, which is an event if it was not, or had expired."""
    now = clock.now_ms()
    columns = {"checked_ms": now, "finding": finding, "misdirected_since_ms": None}
    is_served = Domain.verified_ms.is_null(False) & points_here_since(
        now - EXPIRES_AFTER_MS
    )
    is_new = domain.change(~is_served, verified_ms=now, lost_ms=None, **columns)
    # The row is gone, so raising must roll back what was taken from other projects.
    if not is_new and not domain.change(**columns):
        raise NoSuchDomain
    if is_new:
        domain.emit("domain_verified")
