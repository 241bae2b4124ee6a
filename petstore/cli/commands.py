"""Commands whose errors are one line: exit code 2 for a wrong argument, else 1."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from errno import EPIPE
from importlib import import_module
from typing import Any

import click
import peewee
from flask.cli import AppGroup, FlaskGroup

from petstore import log
from petstore.events import OPERATOR, acting_as
from petstore.models import RuleError
from petstore.settings import RELEASE
from petstore.storage import migrator, opened_databases

HELP = f"""Pet Store Service {RELEASE}: animals for adoption over HTTP.

Run these commands in the directory of the service, with its environment variables.
Flask's own commands run, routes and shell work, too.
"""
# Python decodes the bytes of an argument that is not UTF-8 to lone surrogates.
_UNDECODED = re.compile("[\ud800-\udfff]")


class Command(click.Command):
    """A command whose errors are one line."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Parse the arguments."""
        with _errors_in_one_line():
            return super().make_context(*args, **kwargs)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reject arguments that are not UTF-8, which no database accepts."""
        for argument in args:
            if _UNDECODED.search(argument):
                raise click.UsageError(f"The argument {argument!r} is not UTF-8.")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _errors_in_one_line(), log.of_command():
            return super().invoke(ctx)


class DatabaseCommand(Command):
    """A command that needs a migrated database, with extended timeouts."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, unless the database is older than the code."""
        with _errors_in_one_line():
            opened_databases().extend_timeouts()
            migrator.require_migrated()
            with acting_as(OPERATOR):
                return super().invoke(ctx)


class Group(Command, AppGroup):
    """A group of commands that need a migrated database."""

    command_class = DatabaseCommand

    def __init__(self, **options: Any) -> None:
        super().__init__(no_args_is_help=False, **options)


# Each by its module, which is imported when the command is asked for.
COMMANDS = {
    "animals": "petstore.cli.animals",
    "check": "petstore.cli.checks",
    "data": "petstore.cli.data",
    "demo": "petstore.cli.demo",
    "domains": "petstore.cli.domains",
    "keys": "petstore.cli.keys",
    "migrate": "petstore.cli.migrate",
    "projects": "petstore.cli.projects",
    "usage": "petstore.cli.usage",
}


class CommandLine(AppGroup):
    """The commands of the application, which Flask's command line looks up here."""

    def __init__(self) -> None:
        super().__init__(name="petstore", help=HELP)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, or print the help.

        `flask --help` asks for the names after it has said what Flask is.
        """
        if isinstance(ctx.command, FlaskGroup) and not ctx.resilient_parsing:
            own = click.Context(self, info_name=ctx.info_name)
            click.echo(self.get_help(own))
            sys.exit()
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command:
        """Return the command; raises `click.NoSuchCommand` for an unknown one."""
        if name not in COMMANDS:
            raise click.NoSuchCommand(name, possibilities=COMMANDS)
        command: click.Command = getattr(import_module(COMMANDS[name]), name)
        return command


@contextmanager
def _errors_in_one_line() -> Iterator[None]:
    try:
        yield
    except click.UsageError as error:
        error.ctx = None  # with its context, click would print the usage as well
        raise click.UsageError(" ".join(error.format_message().split())) from None
    except RuleError as error:
        raise click.UsageError(str(error)) from None
    except migrator.NotMigrated as error:
        raise click.ClickException(str(error)) from None
    except peewee.DatabaseError as error:
        raise click.ClickException(
            f"DATABASE_URL: the database does not work: {in_one_line(error)}"
        ) from None
    except OSError as error:
        if error.errno == EPIPE:  # the reader, such as head, has ended: so does click
            raise
        raise click.ClickException(in_one_line(error)) from None


def in_one_line(error: Exception) -> str:
    """Return the message of an error, which a driver may break into lines."""
    return " ".join(str(error).split())


def did_you_mean(word: str, known: list[str]) -> str:
    """Return a question that suggests the most similar word, or nothing."""
    similar = get_close_matches(word, known, n=1)
    return f" Did you mean {similar[0]!r}?" if similar else ""
