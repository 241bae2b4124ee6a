"""flask domains list."""

from petstore.cli.commands import Group
from petstore.cli.output import echo_list, format_instant, json_option
from petstore.cli.projects import find_project, project_option
from petstore.models.domains import Domain

domains = Group(name="domains", help="Domains of the projects.")


@domains.command("list")
@project_option("Only the domains of this project.")
@json_option
def list_domains(slug: str | None, *, as_json: bool) -> None:
    """Print the domains, with the states of their DNS and their certificates."""
    project = None if slug is None else find_project(slug)
    echo_list(
        ("NAME", "PROJECT", "STATE", "CERTIFICATE", "EXPIRES"),
        [
            (
                domain.name,
                domain.project.slug,
                domain.state,
                domain.certificate if domain.verified_ms else None,
                format_instant(domain.certificate_expires_ms),
            )
            for domain in Domain.all_by_name(project)
        ],
        as_json=as_json,
    )
