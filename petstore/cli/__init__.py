"""flask migrate, projects, keys, data and check: the operator's command line."""

from flask import Flask

from petstore.cli import check, data, keys, migrate, projects
from petstore.cli.terse import CommandLine
from petstore.settings import Settings


def init_app(app: Flask, settings: Settings) -> None:
    """Put the commands beside Flask's own."""
    app.cli = CommandLine(name="petstore")
    app.cli.add_command(migrate.migrate)
    app.cli.add_command(projects.projects)
    app.cli.add_command(keys.keys)
    app.cli.add_command(data.data)
    app.cli.add_command(check.check)
    app.extensions["settings"] = settings
