"""flask projects create, list, change and delete."""

from collections.abc import Callable

import click

from petstore.cli.commands import Group, did_you_mean
from petstore.cli.output import echo_list, format_instant, json_option
from petstore.models.names import name_error
from petstore.models.plans import FREE, PLANS
from petstore.models.projects import SLUG, Plan, Project
from petstore.quotas.projects import count_rows, delete_project

MAX_REQUESTS = 10**12
MAX_ROWS = 10**12
CUSTOM = " or ".join(name for name, terms in PLANS.items() if not terms.quota)

projects = Group(name="projects", help="Projects and their plans.")
plan_option = click.option(
    "--plan", type=click.Choice(PLANS), help="The plan of the project."
)
per_minute_option, per_day_option = (
    click.option(
        f"--per-{window}",
        type=click.IntRange(1, MAX_REQUESTS),
        help=f"Requests per {window}; only for the plan {CUSTOM}.",
    )
    for window in ("minute", "day")
)

rows_option = click.option(
    "--rows",
    "max_rows",
    type=click.IntRange(1, MAX_ROWS),
    help=f"Animals, orders and categories together; only for the plan {CUSTOM}.",
)


@projects.command()
@click.argument("name")
@click.option("--slug", help="1 to 63 of a-z, 0-9 and inner hyphens.")
@plan_option
@per_minute_option
@per_day_option
def create(
    name: str,
    slug: str | None,
    plan: str | None,
    per_minute: int | None,
    per_day: int | None,
) -> None:
    """Create a project, on the plan free if none is given, and print its slug."""
    if error := name_error(name):
        raise click.UsageError(f"NAME {error}.")
    if slug is not None and not SLUG.fullmatch(slug):
        raise click.UsageError(
            "--slug must have 1 to 63 characters of a-z, 0-9 and inner hyphens."
        )
    project = Project.add(name, slug, Plan(plan or FREE, per_minute, per_day))
    click.echo(project.slug)


@projects.command("list")
@json_option
def list_projects(*, as_json: bool) -> None:
    """Print every project with its plan."""
    echo_list(
        (
            "SLUG",
            "NAME",
            "PLAN",
            "PER MINUTE",
            "PER DAY",
            "ROWS",
            "MAX ROWS",
            "CREATED",
        ),
        [
            (
                project.slug,
                project.name,
                project.plan,
                project.quota.per_minute,
                project.quota.per_day,
                project.rows_held,
                project.row_limit,
                format_instant(project.created_ms),
            )
            for project in Project.all_by_slug()
        ],
        as_json=as_json,
    )


@projects.command()
@click.argument("slug")
@plan_option
@per_minute_option
@per_day_option
@rows_option
def change(slug: str, plan: str | None, **limits: int | None) -> None:
    """Change the plan of a project, from its next request on.

    Of a project on Enterprise, one limit can be changed alone. A project that becomes
    Enterprise needs both limits of requests, and has no limit of rows unless one is
    given; the limits of the other plans are fixed.
    """
    project = find_project(slug)
    if not (plan or any(limits.values())):
        raise click.UsageError(
            "Nothing to change: give --plan, --per-minute, --per-day or --rows."
        )
    stays = plan in (None, project.plan)
    if stays and project.has_own_limits and any(limits.values()):
        project.change_limits(**limits)
    else:
        project.change_plan(Plan(plan or project.plan, **limits))


@projects.command()
@click.argument("slug")
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(slug: str, *, yes: bool) -> None:
    """Delete a project and everything that belongs to it.

    Its keys and its hosts stop on their very next request. Its rows are deleted in
    batches; if that is interrupted, give the command again to finish it.
    """
    project = Project.being_deleted(slug) or find_project(slug)
    if not yes:
        question = f"Delete {project.name} ({slug}), its animals, orders, keys and all?"
        click.confirm(question, abort=True, err=True)
    delete_project(project)


@projects.command("count-rows")
@click.argument("slug")
def count_again(slug: str) -> None:
    """Count a project's animals, orders and categories again, and print how many.

    It is for rows that were added or deleted by anything but this version.
    """
    project = find_project(slug)
    count_rows(project)
    click.echo(project.rows_held)


def project_option(text: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return the option that selects a project."""
    return click.option("--project", "slug", help=text)


def find_project(slug: str) -> Project:
    """Return the project with that slug; raises `click.UsageError`."""
    project = Project.by_slug(slug)
    if project is None:
        slugs = [project.slug for project in Project.all_by_slug()]
        raise click.UsageError(
            f"There is no project {slug!r}.{did_you_mean(slug, slugs)}"
        )
    return project


def chosen_project(slug: str | None) -> Project:
    """Return the project with that slug; without one the only project."""
    return _only_project() if slug is None else find_project(slug)


def _only_project() -> Project:
    projects = Project.all_by_slug()
    if len(projects) == 1:
        return projects[0]
    if not projects:
        raise click.UsageError(
            "There is no project yet: flask projects create NAME makes one."
        )
    slugs = ", ".join(project.slug for project in projects)
    raise click.UsageError(f"Which project? Give --project with one of {slugs}.")
