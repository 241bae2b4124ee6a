"""flask activity."""

from collections.abc import Iterator
from itertools import product

import click

from petstore.cli.commands import DatabaseCommand, Row, format_instant, table
from petstore.cli.projects import project_option, shown_projects
from petstore.extensions.activity.events import TOPICS, newest, title_of
from petstore.models.keys import Key


@click.command(cls=DatabaseCommand)
@project_option("Only what happened in this project.")
@table("project, time, topic, event, facts, by, label")
def activity(slug: str | None) -> Iterator[Row]:
    """Print who did what in each project in the last 90 days, newest first."""
    for project, topic in product(shown_projects(slug), TOPICS):
        keys = Key.select(Key.prefix, Key.label).where(Key.project == project)
        labels: dict[str, str] = dict(keys.tuples().iterator())
        for event in newest(project.id, topic):
            what = topic, title_of(event), event.facts
            who = event.actor, labels.get(event.actor)
            yield project.slug, format_instant(event.at_ms), *what, *who
