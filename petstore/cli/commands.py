"""Commands whose errors are one line: exit code 2 for a wrong argument, else 1."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
import peewee
from flask.cli import AppGroup

from petstore.database import opened_databases
from petstore.migrator import NotMigrated, require_migrated

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
        with _errors_in_one_line():
            return super().invoke(ctx)


class Group(Command, AppGroup):
    """A group of commands that need a migrated database, with extended timeouts."""

    command_class = Command

    def __init__(self, **options: Any) -> None:
        super().__init__(no_args_is_help=False, **options)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, unless the database is older than the code."""
        with _errors_in_one_line():
            opened_databases().extend_timeouts()
            require_migrated()
            return super().invoke(ctx)


class CommandLine(AppGroup):
    """The commands of the application, which Flask's command line looks up here."""

    def get_command(self, ctx: click.Context, name: str) -> click.Command:
        """Return the command; raises `click.UsageError` for an unknown one."""
        command = super().get_command(ctx, name)
        if command is None:
            raise click.UsageError(f"No such command {name!r}.")
        return command


@contextmanager
def _errors_in_one_line() -> Iterator[None]:
    try:
        yield
    except click.UsageError as error:
        error.ctx = None  # with its context, click would print the usage as well
        raise click.UsageError(" ".join(error.format_message().split())) from None
    except NotMigrated as error:
        raise click.ClickException(str(error)) from None
    except peewee.DatabaseError as error:
        reason = " ".join(str(error).split())
        raise click.ClickException(
            f"DATABASE_URL: the database does not work: {reason}"
        ) from None
