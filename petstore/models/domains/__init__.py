"""Domains of projects: added, verified, made the primary one, removed."""

from typing import Any, Self

from peewee import (
    BigAutoField,
    BigIntegerField,
    BooleanField,
    ColumnBase,
    Expression,
    ForeignKeyField,
    IntegrityError,
    ModelAlias,
    ModelSelect,
    TextField,
)

from petstore import clock, randomness
from petstore.events import emit_after_commit
from petstore.models import RuleError
from petstore.models.projects import Project
from petstore.storage import BaseModel, db

MAX_DOMAINS = 100  # of one project
# What DNS proved is believed for a while after it points elsewhere: the name may belong
# to somebody else by then.
REDIRECTS_END_AFTER_MS = 7 * clock.MS_PER_DAY
EXPIRES_AFTER_MS = 30 * clock.MS_PER_DAY
TOKEN_BYTES = 20
# Longer than a check takes: the lock of a process that was killed ends by itself. The
# clocks of several hosts may differ by seconds.
LOCK_MS = 15 * clock.MS_PER_SECOND


class NoSuchDomain(RuleError):
    """The project has no domain with that id."""

    code = "not_found"
    text = "There is no such domain."


class DomainNotAllowed(RuleError):
    """The domain cannot be added."""

    text = "{}"


class DomainToken(BaseModel):
    """The token of a project, made when it adds its first domain."""

    project = ForeignKeyField(Project, primary_key=True)
    token = TextField()
    locked_until_ms = BigIntegerField(null=True, column_name="turn_ends_ms")

    @classmethod
    def ensure(cls, project: Project) -> None:
        """Make a token unless the project has one."""
        insert = cls.insert(
            project=project, token=randomness.source.randbytes(TOKEN_BYTES).hex()
        )
        insert.on_conflict_ignore().execute()

    @classmethod
    def of(cls, project: Project) -> str:
        """Return the token of a project that has added a domain."""
        return cls.get_by_id(project.id).token

    @classmethod
    def acquire_lock(cls, project_id: int) -> int | None:
        """Lock the project for a check of one of its domains; return when it ends.

        Return None while another request, in any process, has locked it.
        """
        now = clock.now_ms()
        is_free = cls.locked_until_ms.is_null() | (cls.locked_until_ms <= now)
        update = cls.update(locked_until_ms=now + LOCK_MS)
        is_locked = update.where(cls.project == project_id, is_free).execute()
        return now + LOCK_MS if is_locked else None

    @classmethod
    def release_lock(cls, project_id: int, locked_until_ms: int) -> None:
        """Release the lock that `acquire_lock` returned."""
        cls.update(locked_until_ms=None).where(
            cls.project == project_id, cls.locked_until_ms == locked_until_ms
        ).execute()


class Domain(BaseModel):
    """A host name that a project has added, and owns once it is verified."""

    id = BigAutoField()
    project = ForeignKeyField(Project, index=False)
    project_id: int
    name = TextField()
    created_ms = BigIntegerField()
    verified_ms = BigIntegerField(null=True)
    is_chosen = BooleanField(default=False)  # as the primary one
    lost_ms = BigIntegerField(null=True)  # when another project proved it
    # Some columns have the names that release 1.0.0, which may run beside, gave them.
    # When DNS was last queried, and the result of that query, as a sentence:
    checked_ms = BigIntegerField(null=True, index=True, column_name="looked_ms")
    finding = TextField(null=True)
    # Since when DNS has pointed elsewhere:
    misdirected_since_ms = BigIntegerField(null=True, column_name="astray_ms")
    certificate_requested_ms = BigIntegerField(
        null=True, column_name="certificate_asked_ms"
    )
    certificate_issuer = TextField(null=True)
    certificate_expires_ms = BigIntegerField(null=True)
    certificate_fault = TextField(null=True)
    primary: str | None  # selected along with the columns: see `primary_name`

    class Meta:
        indexes = ((("project", "name"), True),)

    @classmethod
    def add(cls, project: Project, name: str) -> Self:
        """Add a domain that is not verified yet; several projects may add the same one.

        Raises `DomainNotAllowed`.
        """
        if not project.has_domains:
            raise DomainNotAllowed("A domain of your own needs the plan Pro or above.")
        try:
            with db.atomic():
                db.lock_until_commit(project.id)
                if cls.select().where(cls.project == project).count() >= MAX_DOMAINS:
                    most = f"A project can have at most {MAX_DOMAINS} domains."
                    raise DomainNotAllowed(most)
                DomainToken.ensure(project)
                now = clock.now_ms()
                domain = cls.create(project=project, name=name, created_ms=now)
                emit_after_commit("domain_added", project=project.slug, domain=name)
        except IntegrityError:
            raise DomainNotAllowed(f"{name} is already one of your domains.") from None
        return cls.find(project, domain.id)

    @classmethod
    def find(cls, project: Project, domain_id: int) -> Self:
        """Return one domain of the project; raises `NoSuchDomain`."""
        for domain in cls._select(cls.project == project, cls.id == domain_id):
            return domain
        raise NoSuchDomain

    @classmethod
    def page(cls, project: Project) -> list[Self]:
        """Return the domains of the project, oldest first."""
        return list(cls._select(cls.project == project).order_by(cls.id))

    @classmethod
    def all_by_name(cls, project: Project | None) -> list[Self]:
        """Return the domains of a project, or of all projects, by name."""
        is_shown = cls.id > 0 if project is None else cls.project == project
        return list(cls._select(is_shown).order_by(cls.name, cls.id))

    @classmethod
    def _select(cls, *conditions: Expression) -> "ModelSelect[Self]":
        oldest_ms = clock.now_ms() - REDIRECTS_END_AFTER_MS
        columns = (cls, Project, primary_name(oldest_ms).alias("primary"))
        return cls.select(*columns).join(Project).where(*conditions)

    @property
    def is_primary(self) -> bool:
        """Whether the project's other domains redirect to this one."""
        return self.primary == self.name

    @property
    def is_misdirected(self) -> bool:
        """Whether the domain is verified, but DNS points elsewhere now."""
        return None not in (self.verified_ms, self.misdirected_since_ms)

    @property
    def redirects_end_ms(self) -> int:
        """When a misdirected domain is no longer the target of redirects."""
        return (self.misdirected_since_ms or 0) + REDIRECTS_END_AFTER_MS

    @property
    def expires_ms(self) -> int:
        """When a misdirected domain is no longer served."""
        return (self.misdirected_since_ms or 0) + EXPIRES_AFTER_MS

    @property
    def can_be_primary(self) -> bool:
        """Whether the project's other domains may redirect to this one."""
        if not self.is_misdirected:
            return self.verified_ms is not None
        return clock.now_ms() < self.redirects_end_ms

    @property
    def has_expired(self) -> bool:
        """Whether DNS has pointed elsewhere until the domain was served no longer."""
        return self.is_misdirected and clock.now_ms() >= self.expires_ms

    @property
    def state(self) -> str:
        """The state of the domain in a few words."""
        if self.verified_ms is None:
            return "taken over" if self.lost_ms else "not verified"
        if not self.project.has_domains:
            return "stopped by the plan"
        if self.has_expired:
            return "expired"
        return "points elsewhere" if self.is_misdirected else "verified"

    @property
    def certificate(self) -> str:
        """The state of the certificate: pending, issuing, active or failed."""
        if self.certificate_fault:
            return "failed"
        if self.certificate_issuer:
            return "active"
        return "issuing" if self.certificate_requested_ms else "pending"

    def choose(self) -> bool:
        """Make it the project's primary domain; return whether it can be."""
        with db.atomic():
            db.lock_until_commit(self.project_id)
            was_primary = any(
                domain.is_primary for domain in Domain._select(Domain.id == self.id)
            )
            points_here = points_here_since(clock.now_ms() - REDIRECTS_END_AFTER_MS)
            is_verified = Domain.verified_ms.is_null(False)
            if not self.change(is_verified, points_here, is_chosen=True):
                return False
            Domain.update(is_chosen=False).where(
                Domain.project == self.project_id, Domain.id != self.id
            ).execute()
            if not was_primary:
                self.emit("domain_primary_changed")
        return True

    def remove(self) -> bool:
        """Stop serving the domain on its very next request; return if it was served.

        A project that never verified it, or lost it to another project, merely
        withdraws it.
        """
        delete = Domain.delete().where(Domain.id == self.id)
        with db.atomic():
            rows = list(delete.returning(Domain.verified_ms))
            for row in rows:
                self.emit("domain_removed" if row.verified_ms else "domain_withdrawn")
        return any(row.verified_ms for row in rows)

    def change(self, *conditions: Expression, **columns: Any) -> bool:
        """Update the row if the conditions hold; return whether it was there."""
        update = Domain.update(**columns).where(Domain.id == self.id, *conditions)
        return bool(update.execute())

    def emit(self, event: str, **facts: str | None) -> None:
        """Emit an event of the domain after the current transaction."""
        slug = self.project.slug
        emit_after_commit(event, project=slug, domain=self.name, **facts)


# Several projects may add a domain; one of them owns it.
Domain.add_index(Domain.name, unique=True, where=Domain.verified_ms.is_null(False))


def points_here_since(
    oldest_ms: int | ColumnBase, domain: "type[Domain] | ModelAlias[Domain]" = Domain
) -> Expression:
    """Return the condition that DNS points here, or has until after that instant."""
    since = domain.misdirected_since_ms
    is_here: Expression = since.is_null() | (since > oldest_ms)
    return is_here


def primary_name(oldest_ms: int | ColumnBase) -> "ModelSelect[Domain]":
    """Return a subquery for the primary domain: the chosen one, else the oldest.

    A domain that DNS has pointed elsewhere since `oldest_ms` is none.
    """
    primary = Domain.alias()
    return (
        primary.select(primary.name)
        .where(
            primary.project == Domain.project,
            primary.verified_ms.is_null(False),
            points_here_since(oldest_ms, primary),
        )
        .order_by(primary.is_chosen.desc(), primary.verified_ms, primary.id)
        .limit(1)
    )
