"""Domains of projects: added, verified, checked again, chosen, removed."""

import logging
from typing import Any, NamedTuple, Self

import peewee
from peewee import SQL, Case, Expression, Function, Query, fn

from petstore import clock, randomness
from petstore.events import LEVELS, SYSTEM
from petstore.models import NotFound, RuleError
from petstore.models.activity import SHOWN_FACTS, emit_after_commit
from petstore.models.plans import PLANS
from petstore.models.projects import Project
from petstore.storage import BaseModel, compiled, db, placeholder

# What projects and operators see of domains.
EVENTS = ("added", "verified", "primary_changed", "expired", "lost", "removed")
SHOWN_FACTS |= {f"domain_{event}": ("domain",) for event in (*EVENTS, "withdrawn")}
SHOWN_FACTS["certificate_failed"] = ("domain", "reason")
LEVELS["domain_taken_over"] = logging.WARNING

PLANS_WITH_DOMAINS = [name for name, terms in PLANS.items() if terms.has_domains]
MAX_DOMAINS = 100  # of one project
# A domain keeps its rights for so long after DNS points elsewhere. After that, the name
# may belong to somebody else.
REDIRECTS_END_AFTER_MS = 7 * clock.MS_PER_DAY
EXPIRES_AFTER_MS = 30 * clock.MS_PER_DAY
# How long the next check waits, and the next try after a failed certificate, because
# authorities limit failures.
CHECK_AFTER_MS = 60 * clock.MS_PER_MINUTE
# A handshake that has had no result for so long was given up: its process has ended.
GIVE_UP_AFTER_MS = 3 * clock.MS_PER_MINUTE
TOKEN_BYTES = 20


class DomainNotAllowed(RuleError):
    text = "{}"


def require_domains(project: Project) -> None:
    """Raise `DomainNotAllowed` unless the plan of the project has domains."""
    if not project.has_domains:
        raise DomainNotAllowed("Domains of your own need the plan Pro or above.")


class DnsResult(NamedTuple):
    """Whether DNS verifies a domain, and a sentence for its owner."""

    is_verified: bool | None  # None if DNS has not answered
    text: str


class Certificate(NamedTuple):
    """The issuer and the expiry of a certificate, or why there is none."""

    issuer: str | None = None
    expires_ms: int | None = None
    fault: str | None = None
    detail: str | None = None  # of the fault, with addresses: for the operator alone


class DomainToken(BaseModel):
    project = peewee.ForeignKeyField(Project, primary_key=True)
    token = peewee.TextField()

    @classmethod
    def of(cls, project: Project) -> str:
        return cls.get_by_id(project.id).token


class Domain(BaseModel):
    """A host name that a project has added, and owns once it is verified."""

    id = peewee.BigAutoField()
    project = peewee.ForeignKeyField(Project, index=False)
    project_id: int
    name = peewee.TextField()
    created_ms = peewee.BigIntegerField()
    verified_ms = peewee.BigIntegerField(null=True)
    is_chosen = peewee.BooleanField(default=False)  # as the primary one
    lost_ms = peewee.BigIntegerField(null=True)  # when another project proved it
    # When DNS was last queried, and the result of that query, as a sentence.
    checked_ms = peewee.BigIntegerField(null=True, index=True, column_name="looked_ms")
    finding = peewee.TextField(null=True)
    # Since when DNS has pointed elsewhere.
    misdirected_since_ms = peewee.BigIntegerField(null=True, column_name="astray_ms")
    certificate_issuer = peewee.TextField(null=True)
    certificate_expires_ms = peewee.BigIntegerField(null=True)
    certificate_fault = peewee.TextField(null=True)
    primary: str | None  # selected along with the columns: see `_primary_name`

    class Meta:
        indexes = ((("project", "name"), True),)

    @classmethod
    def add(cls, project: Project, name: str) -> Self:
        """Add a domain, as several projects may; raises `DomainNotAllowed`."""
        require_domains(project)
        try:
            with db.atomic():
                db.lock_until_commit(project.id)
                if cls.select().where(cls.project == project).count() >= MAX_DOMAINS:
                    most = f"A project can have at most {MAX_DOMAINS} domains."
                    raise DomainNotAllowed(most)
                token = randomness.source.randbytes(TOKEN_BYTES).hex()
                values = {"project": project, "token": token}
                DomainToken.insert(values).on_conflict_ignore().execute()
                now = clock.now_ms()
                domain = cls.create(project=project, name=name, created_ms=now)
                emit_after_commit("domain_added", project=project.slug, domain=name)
        except peewee.IntegrityError:
            raise DomainNotAllowed(f"{name} is already one of your domains.") from None
        return cls.get_own(project, domain.id)

    @classmethod
    def get_own(cls, project: Project, domain_id: int) -> Self:
        """Return one domain of the project; raises `NotFound`."""
        for domain in cls._select(cls.project == project, cls.id == domain_id):
            return domain
        raise NotFound("domain", domain_id)

    @classmethod
    def all_by_name(cls, project: Project | None) -> list[Self]:
        is_shown = cls.id > 0 if project is None else cls.project == project
        return list(cls._select(is_shown).order_by(cls.name, cls.id))

    @classmethod
    def claim_due(cls) -> list[Self]:
        """Claim the due domains of the project that has waited longest.

        One worker gets them; another one that claims at the same moment gets none.
        """
        now = clock.now_ms()
        is_due = _is_due(now)
        first = cls.select(cls.project).where(is_due).order_by(cls.checked_ms, cls.id)
        is_own = cls.project.in_(first.limit(1))
        claim = cls.update(checked_ms=now).where(is_own, is_due)
        with db.atomic():
            return list(claim.returning(cls))

    @classmethod
    def _select(cls, *conditions: Expression) -> "peewee.ModelSelect[Self]":
        oldest_ms = clock.now_ms() - REDIRECTS_END_AFTER_MS
        columns = (cls, Project, _primary_name(oldest_ms).alias("primary"))
        return cls.select(*columns).join(Project).where(*conditions)

    @property
    def is_new(self) -> bool:
        """Whether the project has never verified it."""
        return self.verified_ms is None and self.lost_ms is None

    @property
    def is_primary(self) -> bool:
        """Whether the project's other domains redirect to this one."""
        return self.primary == self.name

    @property
    def is_misdirected(self) -> bool:
        return None not in (self.verified_ms, self.misdirected_since_ms)

    @property
    def redirects_end_ms(self) -> int:
        return (self.misdirected_since_ms or 0) + REDIRECTS_END_AFTER_MS

    @property
    def expires_ms(self) -> int:
        return (self.misdirected_since_ms or 0) + EXPIRES_AFTER_MS

    @property
    def can_be_primary(self) -> bool:
        if not self.is_misdirected:
            return self.verified_ms is not None
        return clock.now_ms() < self.redirects_end_ms

    @property
    def has_expired(self) -> bool:
        return self.is_misdirected and clock.now_ms() >= self.expires_ms

    @property
    def state(self) -> str:
        if self.verified_ms is None:
            return "taken over" if self.lost_ms else "not verified"
        if self.project.is_suspended:
            return "suspended"
        if not self.project.has_domains:
            return "stopped by the plan"
        if self.has_expired:
            return "expired"
        return "points elsewhere" if self.is_misdirected else "verified"

    @property
    def certificate(self) -> str:
        if self.certificate_fault:
            return "failed"
        return "active" if self.certificate_issuer else "issuing"

    def choose(self) -> None:
        """Make it the primary one; raises `DomainNotAllowed`."""
        require_domains(self.project)
        points_here = _points_here_since(clock.now_ms() - REDIRECTS_END_AFTER_MS)
        with db.atomic():
            db.lock_until_commit(self.project_id)
            is_verified = Domain.verified_ms.is_null(False)
            if not self._change(is_verified, points_here, is_chosen=True):
                text = "Only a verified domain can be primary, if DNS points here."
                raise DomainNotAllowed(text)
            Domain.update(is_chosen=False).where(
                Domain.project == self.project_id, Domain.id != self.id
            ).execute()
            if not self.is_primary:
                self._emit("domain_primary_changed")

    def remove(self) -> bool:
        """Stop serving the domain at once; return whether it was served."""
        delete = Domain.delete().where(Domain.id == self.id)
        with db.atomic():
            rows = list(delete.returning(Domain.verified_ms))
            for row in rows:
                self._emit("domain_removed" if row.verified_ms else "domain_withdrawn")
        return any(row.verified_ms for row in rows)

    def record(self, result: DnsResult, *, by_owner: bool = False) -> None:
        """Store the result of a check, and what follows from it.

        If the owner has asked for the check, a verified domain belongs to the project
        from now on. A domain that points elsewhere stays with its project for a while.
        Raises `NotFound` if the domain was removed meanwhile.
        """
        now = clock.now_ms()
        columns: dict[str, Any] = {"checked_ms": now, "finding": result.text}
        if result.is_verified:
            # The proxy is about to be asked for the certificate.
            columns |= {"misdirected_since_ms": None, "certificate_fault": None}
        elif result.is_verified is not None:  # DNS has answered
            since = fn.COALESCE(Domain.misdirected_since_ms, now)
            columns["misdirected_since_ms"] = since
        try:
            with db.atomic():
                if result.is_verified and by_owner:
                    self._take_over(now)
                elif self.has_expired and not (result.is_verified or by_owner):
                    self._emit("domain_expired", by=SYSTEM)
                # If the row was deleted meanwhile, the transaction is rolled back.
                if not self._change(**columns):
                    raise NotFound("domain", self.id)
        except peewee.IntegrityError:
            # Another project has verified it at the same time.
            self.record(result, by_owner=by_owner)

    def record_certificate(self, certificate: Certificate) -> None:
        """Store the certificate, or why there is none; a new fault is an event."""
        issuer, expires_ms, fault, detail = certificate
        with db.atomic():
            is_recorded = self._change(
                Domain.verified_ms.is_null(False),
                certificate_issuer=issuer,
                certificate_expires_ms=expires_ms,
                certificate_fault=fault,
            )
            if is_recorded and fault and fault != self.certificate_fault:
                self._emit("certificate_failed", by=SYSTEM, reason=fault, detail=detail)

    def _take_over(self, now: int) -> None:
        """Give the domain to its project, and take it from the project that had it."""
        update = Domain.update(
            verified_ms=None,
            is_chosen=False,
            lost_ms=now,
            certificate_issuer=None,
            certificate_expires_ms=None,
            certificate_fault=None,
        ).where(
            Domain.name == self.name,
            Domain.project != self.project_id,
            Domain.verified_ms.is_null(False),
        )
        for row in list(update.returning(Domain.project)):
            loser = Project.get_by_id(row.project_id).slug
            self._emit("domain_taken_over", loser=loser)
            emit_after_commit("domain_lost", by=SYSTEM, project=loser, domain=self.name)
        points_here = _points_here_since(now - EXPIRES_AFTER_MS)
        is_served = Domain.verified_ms.is_null(False) & points_here
        if self._change(~is_served, verified_ms=now, lost_ms=None):
            self._emit("domain_verified")

    def _change(self, *conditions: Expression, **columns: Any) -> bool:
        """Update the row if the conditions hold; return whether it was there.

        Nothing changes while its project is suspended: a check may be under way.
        """
        is_own = (Domain.id == self.id) & _is_of_served_project()
        update = Domain.update(**columns).where(is_own, *conditions)
        return bool(update.execute())

    def _emit(self, event: str, **facts: Any) -> None:
        slug = self.project.slug
        emit_after_commit(event, project=slug, domain=self.name, **facts)


# Several projects may add a domain; one of them owns it.
Domain.add_index(Domain.name, unique=True, where=Domain.verified_ms.is_null(False))


class Host(NamedTuple):
    """The project that a host serves, and the host to redirect its clients to."""

    project_id: int | None  # None: every project; the key decides
    is_suspended: bool = False
    moved_to: str | None = None

    @classmethod
    def find_by_slug(cls, slug: str) -> Self | None:
        """Return the generated subdomain of a project, which never redirects."""
        for project_id, suspended_ms in _select_by_slug(slug=slug):
            return cls(project_id, suspended_ms is not None)
        return None

    @classmethod
    def find_by_domain(cls, name: str) -> Self | None:
        """Return the host of a verified domain, if its project's plan has domains.

        DNS points here, or has pointed elsewhere for less than 30 days.
        """
        now = clock.now_ms()
        rows = _select_by_name(
            name=name,
            oldest_served_ms=now - EXPIRES_AFTER_MS,
            oldest_primary_ms=now - REDIRECTS_END_AFTER_MS,
        )
        for project_id, suspended_ms, primary in rows:
            moved_to = primary if primary != name else None
            return cls(project_id, suspended_ms is not None, moved_to)
        return None


@compiled(db)
def _select_by_slug() -> Query:
    project = Project.select(Project.id, Project.suspended_ms)
    return project.where(
        Project.slug == placeholder("slug"), Project.deleted_ms.is_null()
    )


@compiled(db)
def _select_by_name() -> Query:
    primary = _primary_name(placeholder("oldest_primary_ms"))
    return (
        Domain.select(Domain.project, Project.suspended_ms, primary)
        .join(Project)
        .where(
            Domain.name == placeholder("name"),
            Domain.verified_ms.is_null(False),
            _points_here_since(placeholder("oldest_served_ms")),
            Project.plan.in_(PLANS_WITH_DOMAINS),
            Project.deleted_ms.is_null(),
        )
    )


def _is_due(now: int) -> Expression:
    since = Domain.misdirected_since_ms
    # Once it has expired, a domain is checked one last time.
    was_served = since.is_null() | (Domain.checked_ms < since + EXPIRES_AFTER_MS)
    is_issuing = (
        since.is_null()
        & Domain.certificate_fault.is_null()
        & Domain.certificate_issuer.is_null()
    )
    pause_ms = Case(None, [(is_issuing, GIVE_UP_AFTER_MS)], CHECK_AFTER_MS)
    return (
        Domain.verified_ms.is_null(False)
        & was_served
        & (Domain.checked_ms < now - pause_ms)
        & _is_of_served_project(Project.plan.in_(PLANS_WITH_DOMAINS))
    )


def _is_of_served_project(*conditions: Expression) -> Function:
    """Return the condition that the domain's project is one of these, not suspended."""
    # SQLite would read all projects for `IN`, even for the domains of one.
    project = Project.select(SQL("1")).where(
        Project.id == Domain.project,
        Project.suspended_ms.is_null(),
        Project.deleted_ms.is_null(),
        *conditions,
    )
    return fn.EXISTS(project)


def _points_here_since(
    oldest_ms: int | peewee.ColumnBase,
    domain: "type[Domain] | peewee.ModelAlias[Domain]" = Domain,
) -> Expression:
    """Return the condition that DNS points here, or still did at that instant."""
    since = domain.misdirected_since_ms
    return since.is_null() | (since > oldest_ms)


def _primary_name(oldest_ms: int | peewee.ColumnBase) -> "peewee.ModelSelect[Domain]":
    """Return a subquery for the primary domain: the chosen one, else the oldest.

    It skips domains that have pointed elsewhere since `oldest_ms` or longer.
    """
    primary = Domain.alias()
    return (
        primary.select(primary.name)
        .where(
            primary.project == Domain.project,
            primary.verified_ms.is_null(False),
            _points_here_since(oldest_ms, primary),
        )
        .order_by(primary.is_chosen.desc(), primary.verified_ms, primary.id)
        .limit(1)
    )
