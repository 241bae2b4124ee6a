"""Commands that say what is wrong in one line, and with what exit code."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
import peewee
from flask.cli import AppGroup

from petstore.database import Databases, counters, data
from petstore.migrator import NotMigrated, require_migrated

# How Python passes on the bytes of an argument that it cannot decode.
_UNDECODED = re.compile("[\ud800-\udfff]")


class TerseCommand(click.Command):
    """A command whose errors are one line: exit code 2 for a wrong argument."""

    is_patient = True

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Parse the arguments."""
        with _one_line():
            return super().make_context(*args, **kwargs)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the arguments apart; no database takes what is not Unicode."""
        for argument in args:
            if _UNDECODED.search(argument):
                raise click.UsageError(f"The argument {argument!r} is not UTF-8.")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, which unlike a request may take its time."""
        with _one_line():
            if self.is_patient:
                Databases(data.obj, counters.obj).be_patient()
            return super().invoke(ctx)


class QuickCommand(TerseCommand):
    """A command that waits for a database no longer than a request does."""

    is_patient = False


class TerseGroup(TerseCommand, AppGroup):
    """A group of terse commands that work on a migrated database."""

    command_class = TerseCommand

    def __init__(self, **options: Any) -> None:
        super().__init__(no_args_is_help=False, **options)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, unless the schema is older than the code."""
        with _one_line():
            Databases(data.obj, counters.obj).be_patient()
            require_migrated()
            return super().invoke(ctx)


class CommandLine(AppGroup):
    """What Flask's own command line finds in the application."""

    def get_command(self, ctx: click.Context, name: str) -> click.Command:
        """The command; an unknown one is a wrong argument."""
        command = super().get_command(ctx, name)
        if command is None:
            raise click.UsageError(f"No such command {name!r}.")
        return command


@contextmanager
def _one_line() -> Iterator[None]:
    try:
        yield
    except click.UsageError as error:
        error.ctx = None  # click shows its usage lines only where it knows the context
        error.message = " ".join(error.format_message().split())
        raise click.UsageError(error.message) from None
    except NotMigrated as error:
        raise click.ClickException(str(error)) from None
    except peewee.DatabaseError as error:
        reason = " ".join(str(error).split())
        raise click.ClickException(
            f"DATABASE_URL: the database does not work: {reason}"
        ) from None
