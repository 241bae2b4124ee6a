"""flask usage."""

import click
from flask import current_app
from flask.cli import with_appcontext

from petstore import clock
from petstore.cli.commands import DatabaseCommand
from petstore.cli.output import echo_list, json_option
from petstore.cli.projects import find_project, project_option
from petstore.models.projects import Project
from petstore.quotas.limiter import Limiter
from petstore.quotas.subjects import USAGE_KEPT_DAYS


@click.command(cls=DatabaseCommand)
@project_option("Only the usage of this project.")
@click.option(
    "--days",
    type=click.IntRange(1, USAGE_KEPT_DAYS),
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
    today = clock.now_ms() // clock.MS_PER_DAY
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
            for day, served, refused in _history(project, today, days)
        ],
        as_json=as_json,
    )


def _history(project: Project, today: int, days: int) -> list[tuple[int, int, int]]:
    limiter = Limiter(current_app.extensions["settings"])
    if not limiter.store_answers():
        raise click.ClickException(
            "REDIS_URL: the counters cannot be read; run `flask check`."
        )
    return list(limiter.history(project.id, range(today - days + 1, today + 1)))
