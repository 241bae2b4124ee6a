"""flask usage and flask requests."""

from collections.abc import Iterator

import click

from petstore import clock
from petstore.cli.commands import DatabaseCommand, Row, format_instant, table
from petstore.cli.projects import project_option, shown_projects
from petstore.extensions.monitoring.models import SHOWN_DAYS, FailedRequest, history


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
@table("project, day, served, refused, per day")
def usage(slug: str | None, days: int) -> Iterator[Row]:
    """Print the requests served and refused of each project and day (UTC)."""
    for project in shown_projects(slug):
        for day, *figures in history(project.id, days):
            date = clock.utc_date(day * clock.MS_PER_DAY)
            yield project.slug, date, *figures, project.quota.per_day


@click.command(cls=DatabaseCommand)
@project_option("Only the requests of this project.")
@table("project, time, operation, status, code, message, key, id")
def requests(slug: str | None) -> Iterator[Row]:
    """Print the failed requests of each project in the last 24 hours, newest first."""
    for project in shown_projects(slug):
        for each in FailedRequest.newest(project.id):
            what = each.operation, each.status, each.code, each.message
            at = format_instant(each.at_ms)
            yield project.slug, at, *what, each.key_prefix, each.request_id
