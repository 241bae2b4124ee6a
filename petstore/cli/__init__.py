"""flask migrate, projects, keys and data: the operator's command line."""

from flask import Flask

from petstore.cli import data, keys, migrate, projects
from petstore.cli.terse import CommandLine


def init_app(app: Flask) -> None:
    """Put the commands beside Flask's own."""
    app.cli = CommandLine(name="petstore")
    app.cli.add_command(migrate.migrate)
    app.cli.add_command(projects.projects)
    app.cli.add_command(keys.keys)
    app.cli.add_command(data.data)
