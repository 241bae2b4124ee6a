"""flask projects create, list and change."""

from collections.abc import Callable

import click

from petstore.cli.lists import echo_list, json_option, moment
from petstore.cli.terse import TerseGroup
from petstore.models.projects import ENTERPRISE, PLANS, SLUG, Plan, Project, SlugTaken
from petstore.quotas.plans import quota_of
from petstore.schemas.fields import name_fault

MAX_REQUESTS = 10**12

projects = TerseGroup(name="projects", help="Projects and their plans.")


def plan_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that describe a plan."""
    number = click.IntRange(1, MAX_REQUESTS)
    for option in (
        click.option("--per-day", type=number, help="Requests, for enterprise only."),
        click.option(
            "--per-minute", type=number, help="Requests, for enterprise only."
        ),
        click.option("--plan", type=click.Choice(PLANS), help="The plan."),
    ):
        command = option(command)
    return command


@projects.command()
@click.argument("name")
@click.option("--slug", help="1 to 63 of a-z, 0-9 and inner hyphens.")
@plan_options
def create(name: str, slug: str | None, **plan: str | int | None) -> None:
    """Create a project and print its slug."""
    if fault := name_fault(name):
        raise click.UsageError(f"NAME {fault}.")
    if slug is not None and not SLUG.fullmatch(slug):
        raise click.UsageError(
            "--slug must have 1 to 63 characters of a-z, 0-9 and inner hyphens."
        )
    try:
        project = Project.add(name, slug, _plan("free", **plan))
    except SlugTaken:
        raise click.UsageError(f"--slug {slug} is taken by another project.") from None
    click.echo(project.slug)


@projects.command("list")
@json_option
def list_projects(*, as_json: bool) -> None:
    """Print every project with its plan."""
    echo_list(
        ("SLUG", "NAME", "PLAN", "PER MINUTE", "PER DAY", "CREATED"),
        [
            (
                project.slug,
                project.name,
                project.plan,
                *(limit.amount for limit in quota_of(project)),
                moment(project.created_ms),
            )
            for project in Project.all_by_slug()
        ],
        as_json=as_json,
    )


@projects.command()
@click.argument("slug")
@plan_options
def change(slug: str, **plan: str | int | None) -> None:
    """Put a project on another plan, from its next request on."""
    project = named_project(slug)
    given = {name: value for name, value in plan.items() if value}
    if not given:
        raise click.UsageError(
            "Nothing to change: give --plan, --per-minute or --per-day."
        )
    limits = {name: value for name, value in given.items() if name != "plan"}
    if limits and project.plan == given.get("plan", ENTERPRISE) == ENTERPRISE:
        project.change_limits(**limits)
    else:
        project.change_plan(_plan(project.plan, **plan))


def named_project(slug: str) -> Project:
    """The project of a slug that the operator gave."""
    project = Project.by_slug(slug)
    if project is None:
        raise click.UsageError(f"There is no project {slug!r}.")
    return project


def _plan(
    present: str, plan: str | None, per_minute: int | None, per_day: int | None
) -> Plan:
    try:
        return Plan(plan or present, per_minute, per_day)
    except ValueError as error:
        raise click.UsageError(f"{error}.") from None
