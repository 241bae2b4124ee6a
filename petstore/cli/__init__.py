"""flask migrate, projects, keys and the others: the operator's command line."""

from flask import Flask

from petstore.cli import (
    animals,
    checks,
    data,
    demo,
    domains,
    keys,
    migrate,
    projects,
    usage,
)
from petstore.cli.commands import CommandLine
from petstore.settings import Settings


def init_app(app: Flask, settings: Settings) -> None:
    """Add the commands to those of Flask."""
    app.extensions["settings"] = settings
    app.cli = CommandLine(name="petstore")
    for command in (
        migrate.migrate,
        projects.projects,
        keys.keys,
        animals.animals,
        domains.domains,
        usage.usage,
        data.data,
        checks.check,
        demo.demo,
    ):
        app.cli.add_command(command)
