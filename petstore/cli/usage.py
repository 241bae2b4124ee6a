"""flask usage."""

import click
from flask.cli import with_appcontext

from petstore import clock
from petstore.cli.commands import DatabaseCommand
from petstore.cli.output import echo_list, json_option
from petstore.cli.projects import find_project, project_option
from petstore.models.projects import Project
from petstore.models.requests import SHOWN_DAYS, history


@click.command(cls=DatabaseCommand)
@project_option("Only the usage of this project.")
@click.option(
    "--days",
    type=click.IntRange(1, SHOWN_DAYS),
    default=1,
    show_default=True,
    metavar="N",
    help="How many days, today included.",
)
@json_option
@with_appcontext
def usage(slug: str | None, days: int, *, as_json: bool) -> None:
    """Print the requests served and refused of each project and day (UTC)."""
    projects = Project.all_by_slug() if slug is None else [find_project(slug)]
    echo_list(
        ("PROJECT", "DAY", "SERVED", "REFUSED", "PER DAY"),
        [
            (
                project.slug,
                clock.utc_date(day * clock.MS_PER_DAY),
                served,
                refused,
                project.quota.per_day,
            )
            for project in projects
            for day, served, refused in history(project.id, days)
        ],
        as_json=as_json,
    )
