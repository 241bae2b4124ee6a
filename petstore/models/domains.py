"""Domains of projects: added, proved, chosen as the primary one, removed."""

from typing import Any, Self

from peewee import (
    BigAutoField,
    BigIntegerField,
    BooleanField,
    Expression,
    ForeignKeyField,
    IntegrityError,
    Query,
    TextField,
)

from petstore import clock
from petstore.database import BaseModel, data
from petstore.models.domain_tokens import DomainToken
from petstore.models.events import emit_after_commit
from petstore.models.projects import Project

MAX_DOMAINS = 100  # of one project
ASTRAY_AFTER_MS = 7 * clock.MS_PER_DAY


class DomainRefused(Exception):
    """The domain cannot be added; the text says why, to the person who tried."""


class Domain(BaseModel):
    """A host name that a project wants for itself, and has once it is verified."""

    id = BigAutoField()
    project = ForeignKeyField(Project, index=False)
    name = TextField()
    created_ms = BigIntegerField()
    verified_ms = BigIntegerField(null=True)
    is_chosen = BooleanField(default=False)  # as the primary one
    lost_ms = BigIntegerField(null=True)  # when another project proved it
    looked_ms = BigIntegerField(null=True, index=True)  # when DNS was last asked
    finding = TextField(null=True)  # what DNS said then, for people
    astray_ms = BigIntegerField(null=True)  # since when DNS has pointed elsewhere
    certificate_asked_ms = BigIntegerField(null=True)
    certificate_issuer = TextField(null=True)
    certificate_expires_ms = BigIntegerField(null=True)
    certificate_fault = TextField(null=True)

    class Meta:
        indexes = ((("project", "name"), True),)

    @classmethod
    def add(cls, project: Project, name: str) -> Self:
        """Note that the project wants the domain; any number of projects may.

        Raises `DomainRefused`.
        """
        if not project.has_domains:
            raise DomainRefused("A domain of your own needs the plan Pro or above.")
        try:
            with data.atomic():
                data.lock_until_commit(project.id)
                domain = cls._add(project, name)
        except IntegrityError:
            raise DomainRefused(f"{name} is among your domains already.") from None
        return cls.find(project, domain.id)

    @classmethod
    def _add(cls, project: Project, name: str) -> Self:
        if cls.select().where(cls.project == project).count() >= MAX_DOMAINS:
            raise DomainRefused(f"A project has {MAX_DOMAINS} domains at most.")
        DomainToken.ensure(project)
        emit_after_commit("domain_added", project=project.slug, domain=name)
        return cls.create(project=project, name=name, created_ms=clock.now_ms())

    @classmethod
    def page(
        cls, project: Project, *, after: int = 0, limit: int = MAX_DOMAINS
    ) -> list[Self]:
        """Domains of the project, oldest first, from beyond the id `after` on."""
        domains = cls._known(cls.project == project, cls.id > after)
        return list(domains.order_by(cls.id).limit(limit))

    @classmethod
    def find(cls, project: Project, domain_id: int) -> Self | None:
        """One domain of the project."""
        return cls._known(cls.project == project, cls.id == domain_id).first()

    @classmethod
    def _known(cls, *conditions: Expression) -> Query:
        columns = (cls, Project, primary_name().alias("primary"))
        return cls.select(*columns).join(Project).where(*conditions)

    @property
    def is_primary(self) -> bool:
        """Whether the project's other domains redirect here."""
        return self.primary == self.name

    @property
    def is_astray(self) -> bool:
        """Whether DNS has pointed elsewhere for so long that it is no accident."""
        since = self.astray_ms
        return since is not None and clock.now_ms() - since >= ASTRAY_AFTER_MS

    @property
    def certificate(self) -> str:
        """How far the certificate is: pending, issuing, active or failed."""
        if self.certificate_fault:
            return "failed"
        if self.certificate_issuer:
            return "active"
        return "issuing" if self.certificate_asked_ms else "pending"

    def choose(self) -> bool:
        """Make it the primary one; False while it is not verified."""
        with data.atomic():
            data.lock_until_commit(self.project_id)
            before = Domain.find(self.project, self.id)
            if not self.change(Domain.verified_ms.is_null(False), is_chosen=True):
                return False
            Domain.update(is_chosen=False).where(
                Domain.project == self.project_id, Domain.id != self.id
            ).execute()
            if not (before and before.is_primary):
                self.tell("domain_primary_changed")
        return True

    def remove(self) -> None:
        """End the domain on its very next request.

        Only who has verified it makes it go out of service: who had merely added it,
        or has lost it to another project, withdraws a wish.
        """
        removed = Domain.delete().where(Domain.id == self.id)
        for row in list(removed.returning(Domain.verified_ms)):
            self.tell("domain_removed" if row.verified_ms else "domain_withdrawn")

    def change(self, *conditions: Expression, **columns: Any) -> bool:
        """Write columns of the row, if it is there and the conditions hold."""
        changed = Domain.update(**columns).where(Domain.id == self.id, *conditions)
        return bool(changed.execute())

    def tell(self, event: str, **facts: str) -> None:
        """Emit an event of the domain, once what it tells of is committed."""
        slug = self.project.slug
        emit_after_commit(event, project=slug, domain=self.name, **facts)


# Of all the projects that have added a domain, one has it.
Domain.add_index(Domain.name, unique=True, where=Domain.verified_ms.is_null(False))


def primary_name() -> Query:
    """The primary domain of a domain's project: the chosen one, else the oldest."""
    primary = Domain.alias()
    return (
        primary.select(primary.name)
        .where(primary.project == Domain.project, primary.verified_ms.is_null(False))
        .order_by(primary.is_chosen.desc(), primary.verified_ms, primary.id)
        .limit(1)
    )
