"""Domains of projects: added, verified, made the primary one, removed."""

from typing import Any, Self

from peewee import (
    BigAutoField,
    BigIntegerField,
    BooleanField,
    Expression,
    ForeignKeyField,
    IntegrityError,
    ModelSelect,
    TextField,
)

from petstore import clock
from petstore.database import BaseModel, data
from petstore.events import emit_after_commit
from petstore.models import Refused
from petstore.models.domain_tokens import DomainToken
from petstore.models.projects import Project

MAX_DOMAINS = 100  # of one project
ASTRAY_AFTER_MS = 7 * clock.MS_PER_DAY


class NoSuchDomain(Refused):
    """The project has no domain with that id."""

    def __init__(self) -> None:
        super().__init__("There is no such domain.")


class DomainRefused(Refused):
    """The domain cannot be added; the text tells the person who tried why."""


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
    looked_ms = BigIntegerField(null=True, index=True)  # when DNS was last queried
    finding = TextField(null=True)  # the result of that query, as a sentence
    astray_ms = BigIntegerField(null=True)  # since when DNS has pointed elsewhere
    certificate_asked_ms = BigIntegerField(null=True)
    certificate_issuer = TextField(null=True)
    certificate_expires_ms = BigIntegerField(null=True)
    certificate_fault = TextField(null=True)
    primary: str | None  # selected along with the columns: see `primary_name`

    class Meta:
        indexes = ((("project", "name"), True),)

    @classmethod
    def add(cls, project: Project, name: str) -> Self:
        """Add a domain that is not verified yet; several projects may add the same one.

        Raises `DomainRefused`.
        """
        if not project.has_domains:
            raise DomainRefused("A domain of your own needs the plan Pro or above.")
        try:
            with data.atomic():
                data.lock_until_commit(project.id)
                domain = cls._add(project, name)
        except IntegrityError:
            raise DomainRefused(f"{name} is already one of your domains.") from None
        return cls.find(project, domain.id)

    @classmethod
    def _add(cls, project: Project, name: str) -> Self:
        if cls.select().where(cls.project == project).count() >= MAX_DOMAINS:
            raise DomainRefused(f"A project has {MAX_DOMAINS} domains at most.")
        DomainToken.ensure(project)
        emit_after_commit("domain_added", project=project.slug, domain=name)
        return cls.create(project=project, name=name, created_ms=clock.now_ms())

    @classmethod
    def find(cls, project: Project, domain_id: int) -> Self:
        """Return one domain of the project; raises `NoSuchDomain`."""
        for domain in cls._select(cls.project == project, cls.id == domain_id):
            return domain
        raise NoSuchDomain

    @classmethod
    def page(
        cls, project: Project, *, after: int = 0, limit: int = MAX_DOMAINS
    ) -> list[Self]:
        """Return domains of the project, oldest first, after the id `after`."""
        domains = cls._select(cls.project == project, cls.id > after)
        return list(domains.order_by(cls.id).limit(limit))

    @classmethod
    def _select(cls, *conditions: Expression) -> "ModelSelect[Self]":
        columns = (cls, Project, primary_name().alias("primary"))
        return cls.select(*columns).join(Project).where(*conditions)

    @property
    def is_primary(self) -> bool:
        """Whether the project's other domains redirect to this one."""
        return self.primary == self.name

    @property
    def is_astray(self) -> bool:
        """Whether the domain is verified, but DNS has pointed elsewhere for long."""
        if self.verified_ms is None or self.astray_ms is None:
            return False
        return clock.now_ms() - self.astray_ms >= ASTRAY_AFTER_MS

    @property
    def certificate(self) -> str:
        """The state of the certificate: pending, issuing, active or failed."""
        if self.certificate_fault:
            return "failed"
        if self.certificate_issuer:
            return "active"
        return "issuing" if self.certificate_asked_ms else "pending"

    def choose(self) -> bool:
        """Make it the project's primary domain; False while it is not verified."""
        with data.atomic():
            data.lock_until_commit(self.project_id)
            was_primary = any(
                domain.is_primary for domain in Domain._select(Domain.id == self.id)
            )
            if not self.change(Domain.verified_ms.is_null(False), is_chosen=True):
                return False
            Domain.update(is_chosen=False).where(
                Domain.project == self.project_id, Domain.id != self.id
            ).execute()
            if not was_primary:
                self.emit("domain_primary_changed")
        return True

    def remove(self) -> None:
        """Stop serving the domain on its very next request.

        A project that never verified it, or lost it to another project, merely
        withdraws it.
        """
        delete = Domain.delete().where(Domain.id == self.id)
        for row in list(delete.returning(Domain.verified_ms)):
            self.emit("domain_removed" if row.verified_ms else "domain_withdrawn")

    def change(self, *conditions: Expression, **columns: Any) -> bool:
        """Update the row if the conditions hold; return whether it was there."""
        update = Domain.update(**columns).where(Domain.id == self.id, *conditions)
        return bool(update.execute())

    def emit(self, event: str, **facts: str) -> None:
        """Emit an event of the domain after the current transaction."""
        slug = self.project.slug
        emit_after_commit(event, project=slug, domain=self.name, **facts)


# Several projects may add a domain; one of them owns it.
Domain.add_index(Domain.name, unique=True, where=Domain.verified_ms.is_null(False))


def primary_name() -> "ModelSelect[Domain]":
    """Return a subquery for the primary domain: the chosen one, else the oldest."""
    primary = Domain.alias()
    return (
        primary.select(primary.name)
        .where(primary.project == Domain.project, primary.verified_ms.is_null(False))
        .order_by(primary.is_chosen.desc(), primary.verified_ms, primary.id)
        .limit(1)
    )
