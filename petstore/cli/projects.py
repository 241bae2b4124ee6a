"""flask projects."""

import re
from collections.abc import Callable, Iterator

import click

from petstore.cli.commands import (
    Group,
    Row,
    format_instant,
    say,
    table,
)
from petstore.models.plans import FREE, PLANS
from petstore.models.projects import Plan, Project
from petstore.schemas.fields import name_error
from petstore.settings import LABEL
from petstore.upkeep.projects import count_rows, delete_project, set_suspended

MOST = 10**12
CUSTOM = " or ".join(name for name, terms in PLANS.items() if not terms.quota)
OF_CUSTOM = f"only for the plan {CUSTOM}"

Decorator = Callable[[Callable[..., None]], Callable[..., None]]


def limit_option(window: str, text: str) -> Decorator:
    name, numbers = f"--per-{window}", click.IntRange(1, MOST)
    return click.option(name, type=numbers, help=text.format(window))


def project_option(text: str) -> Decorator:
    return click.option("--project", "slug", help=text)


projects = Group(name="projects", help="Projects and their plans.")
plan_option = click.option(
    "--plan", type=click.Choice(PLANS), help="The plan of the project."
)
REQUESTS = f"Requests per {{}}; {OF_CUSTOM}."


@projects.command()
@click.argument("name")
@click.option("--slug", help="1 to 63 of a-z, 0-9 and inner hyphens.")
@plan_option
@limit_option("minute", REQUESTS)
@limit_option("day", REQUESTS)
def create(name: str, slug: str | None, plan: str | None, **limits: int | None) -> None:
    """Create a project, on the plan free if none is given, and print its slug."""
    if error := name_error(name):
        raise click.UsageError(f"NAME {error}.")
    if slug is not None and not re.fullmatch(LABEL, slug):
        raise click.UsageError(
            "--slug must have 1 to 63 characters of a-z, 0-9 and inner hyphens."
        )
    added = Project.add(name, slug, Plan(plan or FREE, **limits))
    click.echo(added.slug)
    say(f"Created the project {name} with this slug, on the plan {added.plan}.")


@projects.command("list")
@table("slug, name, state, plan, per minute, per day, rows, max rows, created")
def list_projects() -> Iterator[Row]:
    """Print every project with its plan."""
    for project in Project.all_by_slug():
        yield (
            project.slug,
            project.name,
            "suspended" if project.is_suspended else "active",
            project.plan,
            project.quota.per_minute,
            project.quota.per_day,
            project.rows_held,
            project.row_limit,
            format_instant(project.created_ms),
        )


@projects.command()
@click.argument("slug")
@click.option("--name", help="What people call the project.")
@plan_option
@limit_option("minute", REQUESTS)
@limit_option("day", REQUESTS)
@click.option(
    "--rows",
    "max_rows",
    type=click.IntRange(1, MOST),
    help=f"Animals, orders and categories together; {OF_CUSTOM}.",
)
@click.option(
    "--suspend/--resume",
    "is_suspended",
    default=None,
    help="Serve nothing of it, and keep everything; or serve it again.",
)
def change(
    slug: str,
    name: str | None,
    plan: str | None,
    *,
    is_suspended: bool | None,
    **limits: int | None,
) -> None:
    """Change the name of a project, and its plan from the next request on.

    A project on Enterprise may change one limit alone. A project that becomes
    Enterprise needs both limits of requests, and has no limit of rows unless you give
    one. The limits of the other plans are fixed.
    """
    project = find_project(slug)
    is_of_plan = plan or any(limits.values())
    if name is None and is_suspended is None and not is_of_plan:
        raise click.UsageError(
            "Nothing to change: give --name, --plan, --per-minute, --per-day, --rows, "
            "--suspend or --resume."
        )
    if name is not None and (error := name_error(name)):
        raise click.UsageError(f"--name {error}.")
    has_own_limits = not PLANS[project.plan].quota
    if plan in (None, project.plan) and has_own_limits and any(limits.values()):
        project.change_terms(**limits)
    elif is_of_plan:
        project.change_plan(Plan(plan or project.plan, **limits))
    if name is not None:
        project.rename(name)
    if is_suspended is not None:
        set_suspended(project, is_suspended)
    say(f"Changed the project {slug}.")


@projects.command()
@click.argument("slug")
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(slug: str, *, yes: bool) -> None:
    """Delete a project and everything that belongs to it.

    Its keys and hosts stop on their next request. Its rows are deleted in batches. If
    the command is interrupted, run it again.
    """
    project = Project.find_being_deleted(slug) or find_project(slug)
    if not yes:
        question = f"Delete {project.name} ({slug}), its animals, orders, keys and all?"
        click.confirm(question, abort=True, err=True)
    delete_project(project)
    say(f"Deleted {project.name} ({slug}) and everything that belonged to it.")


@projects.command("count-rows")
@click.argument("slug", required=False)
def count_again(slug: str | None) -> None:
    """Recount the animals, orders and categories of a project, or of all projects.

    This corrects the number after something else, such as SQL, has changed rows. The
    command prints the number.
    """
    for project in shown_projects(slug):
        count_rows(project)
        click.echo(project.rows_held if slug else f"{project.slug} {project.rows_held}")


def shown_projects(slug: str | None) -> list[Project]:
    return Project.all_by_slug() if slug is None else [find_project(slug)]


def find_project(slug: str) -> Project:
    """Return the project with that slug; raises `click.UsageError`."""
    if project := Project.find_by_slug(slug):
        return project
    raise click.UsageError(f"There is no project {slug!r}.")


def chosen_project(slug: str | None) -> Project:
    """Return the project with that slug; without one the only project."""
    if slug is not None:
        return find_project(slug)
    found = Project.all_by_slug()
    if len(found) == 1:
        return found[0]
    if not found:
        raise click.UsageError(
            "There is no project yet: flask projects create NAME makes one."
        )
    slugs = ", ".join(project.slug for project in found)
    raise click.UsageError(f"Which project? Give --project with one of {slugs}.")
