"""flask projects create, list and change."""

from collections.abc import Callable

import click

from petstore.cli.commands import Group
from petstore.cli.output import echo_list, format_instant, json_option
from petstore.models.projects import (
    ENTERPRISE,
    PLANS,
    SLUG,
    LimitsFixed,
    LimitsMissing,
    Plan,
    Project,
    SlugTaken,
)
from petstore.quotas.plans import quota_of
from petstore.schemas.fields import name_error

MAX_REQUESTS = 10**12

projects = Group(name="projects", help="Projects and their plans.")


def plan_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that describe a plan."""
    number = click.IntRange(1, MAX_REQUESTS)
    for option in (
        click.option(
            "--per-day",
            type=number,
            help="Requests per day; only for the plan enterprise.",
        ),
        click.option(
            "--per-minute",
            type=number,
            help="Requests per minute; only for the plan enterprise.",
        ),
        click.option(
            "--plan",
            type=click.Choice(PLANS),
            help="The plan; a new project gets free.",
        ),
    ):
        command = option(command)
    return command


@projects.command()
@click.argument("name")
@click.option("--slug", help="1 to 63 of a-z, 0-9 and inner hyphens.")
@plan_options
def create(
    name: str,
    slug: str | None,
    plan: str | None,
    per_minute: int | None,
    per_day: int | None,
) -> None:
    """Create a project and print its slug."""
    if error := name_error(name):
        raise click.UsageError(f"NAME {error}.")
    if slug is not None and not SLUG.fullmatch(slug):
        raise click.UsageError(
            "--slug must have 1 to 63 characters of a-z, 0-9 and inner hyphens."
        )
    try:
        project = Project.add(name, slug, _plan(plan or "free", per_minute, per_day))
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
                format_instant(project.created_ms),
            )
            for project in Project.all_by_slug()
        ],
        as_json=as_json,
    )


@projects.command()
@click.argument("slug")
@plan_options
def change(
    slug: str, plan: str | None, per_minute: int | None, per_day: int | None
) -> None:
    """Change the plan of a project, from its next request on."""
    project = find_project(slug)
    if not (plan or per_minute or per_day):
        raise click.UsageError(
            "Nothing to change: give --plan, --per-minute or --per-day."
        )
    stays_on_enterprise = project.plan == ENTERPRISE and plan in (None, ENTERPRISE)
    if stays_on_enterprise and (per_minute or per_day):
        project.change_limits(per_minute=per_minute, per_day=per_day)
    else:
        project.change_plan(_plan(plan or project.plan, per_minute, per_day))


def find_project(slug: str) -> Project:
    """Return the project with that slug; raises `click.UsageError`."""
    project = Project.by_slug(slug)
    if project is None:
        raise click.UsageError(f"There is no project {slug!r}.")
    return project


def _plan(name: str, per_minute: int | None, per_day: int | None) -> Plan:
    try:
        return Plan(name, per_minute, per_day)
    except LimitsMissing:
        raise click.UsageError(
            f"The plan {name} needs --per-minute and --per-day."
        ) from None
    except LimitsFixed:
        raise click.UsageError(
            f"The plan {name} has fixed limits; "
            f"--per-minute and --per-day go with {ENTERPRISE}."
        ) from None
