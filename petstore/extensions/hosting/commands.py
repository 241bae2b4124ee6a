"""flask domains."""

from collections.abc import Iterator

from petstore.cli.commands import Group, Row, format_instant, table
from petstore.cli.projects import find_project, project_option
from petstore.extensions.hosting.models import Domain

domains = Group(name="domains", help="Domains of the projects.")


@domains.command("list")
@project_option("Only the domains of this project.")
@table("name, project, state, certificate, expires")
def list_domains(slug: str | None) -> Iterator[Row]:
    """Print the domains, with the states of their DNS and their certificates."""
    project = None if slug is None else find_project(slug)
    for domain in Domain.all_by_name(project):
        certificate = domain.certificate if domain.verified_ms else None
        expires = format_instant(domain.certificate_expires_ms)
        yield domain.name, domain.project.slug, domain.state, certificate, expires
