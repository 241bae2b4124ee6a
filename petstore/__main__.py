"""`petstore`, the commands of the service where the package is installed."""

import sys

import click
from flask.cli import ScriptInfo

from petstore import cli
from petstore.settings import RELEASE, SettingError


def main() -> None:
    try:
        app = cli.create_app()
    except SettingError as error:
        sys.exit(f"Error: {error}")
    commands = click.version_option(RELEASE, prog_name="petstore")(app.cli)
    commands.main(prog_name="petstore", obj=ScriptInfo(create_app=lambda: app))


if __name__ == "__main__":
    main()
