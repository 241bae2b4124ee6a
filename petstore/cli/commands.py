"""Commands whose errors are one line: exit code 2 for a wrong argument, else 1."""

import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from errno import EPIPE
from importlib import import_module
from typing import Any

import click
import orjson
import peewee
from flask.cli import AppGroup

from petstore import log
from petstore.clock import rfc3339
from petstore.events import OPERATOR, actor
from petstore.extensions import EXTENSIONS
from petstore.models import RuleError
from petstore.models.plans import LimitMissing
from petstore.storage import migrator
from petstore.storage.database import opened_databases

Row = Sequence[object]

# The size of a table on a terminal. Elsewhere it is printed whole.
MAX_WIDTH = 100
MAX_CELL = 36
GAP = "  "

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON array, for scripts."
)


class Command(click.Command):
    """A command whose errors are one line."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with _errors_in_one_line():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        log.handle_events_of_command()
        with _errors_in_one_line():
            return super().invoke(ctx)


class DatabaseCommand(Command):
    """A command that needs a migrated database, with extended timeouts."""

    def invoke(self, ctx: click.Context) -> Any:
        with _errors_in_one_line():
            opened_databases().extend_timeouts()
            migrator.require_migrated()
            actor.set(OPERATOR)
            return super().invoke(ctx)


class Group(Command, AppGroup):
    command_class = DatabaseCommand


# The modules of the core's commands: one is imported when its command is called.
COMMANDS = {
    "demo": "petstore.cli.data",
    "keys": "petstore.cli.keys",
    "migrate": "petstore.cli.data",
    "projects": "petstore.cli.projects",
    "serve": "petstore.cli.serve",
}


class CommandLine(AppGroup):
    """The commands of the core and of extensions, for Flask's command line."""

    def __init__(self, extensions: Iterable[str]) -> None:
        super().__init__()
        self._modules = COMMANDS | {
            name: f"petstore.extensions.{extension}.commands"
            for extension in extensions
            for name in EXTENSIONS[extension].commands
        }

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self._modules)

    def get_command(self, ctx: click.Context, name: str) -> click.Command:
        if name not in self._modules:
            raise click.NoSuchCommand(name, possibilities=self._modules)
        command: click.Command = getattr(import_module(self._modules[name]), name)
        return command


@contextmanager
def _errors_in_one_line() -> Iterator[None]:
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:
        raise  # the help of a group, which is no error of one line
    except click.UsageError as error:
        error.ctx = None  # with its context, click would print the usage as well
        raise click.UsageError(in_one_line(error.format_message())) from None
    except LimitMissing as error:
        text = f"{error} Give --per-minute and --per-day."
        raise click.UsageError(text) from None
    except RuleError as error:
        raise click.UsageError(str(error)) from None
    except UnicodeEncodeError as error:
        # Python decodes the bytes of an argument that is not UTF-8 to lone surrogates.
        fault = f"{error.object!r} cannot be encoded in {error.encoding}."
        raise click.UsageError(fault) from None
    except migrator.NotMigrated as error:
        raise click.ClickException(str(error)) from None
    except peewee.DatabaseError as error:
        raise click.ClickException(
            f"DATABASE_URL: the database does not work: {in_one_line(error)}"
        ) from None
    except OSError as error:
        if error.errno == EPIPE:  # the reader, such as head, has ended; click ends, too
            raise
        raise click.ClickException(in_one_line(error)) from None


def in_one_line(message: Exception | str) -> str:
    """Return a message in one line, without the SQL that PostgreSQL adds to its own."""
    return " ".join(str(message).partition("\nLINE ")[0].split())


def table(
    columns: str,
) -> Callable[[Callable[..., Iterable[Row]]], Callable[..., None]]:
    """Make the decorated command print the rows that it returns, with these columns.

    The names have commas between them. With `--json` it prints objects, whose members
    have these names.
    """
    heads = columns.upper().split(", ")

    def decorate(rows_of: Callable[..., Iterable[Row]]) -> Callable[..., None]:
        @json_option
        @functools.wraps(rows_of)
        def command(*, as_json: bool, **arguments: Any) -> None:
            rows = rows_of(**arguments)
            if as_json:
                names = [_camel(head) for head in heads]
                echo_json(dict(zip(names, row, strict=True)) for row in rows)
            else:
                _echo_table(heads, rows)

        return command

    return decorate


def say(sentence: str) -> None:
    """Tell people at a terminal, but no script, what was done."""
    if sys.stderr.isatty():
        click.echo(sentence, err=True)


def echo_json(rows: Iterable[object]) -> None:
    click.echo(orjson.dumps(list(rows)))


def format_instant(instant: int | None) -> str | None:
    """Format an instant, in milliseconds, to the second."""
    return None if instant is None else f"{rfc3339(instant)[:19]}Z"


def _camel(head: str) -> str:
    first, *rest = head.lower().split()
    return first + "".join(word.capitalize() for word in rest)


def _echo_table(heads: Sequence[str], rows: Iterable[Row]) -> None:
    lines = [heads, *(list(map(_cell, row)) for row in rows)]
    if sys.stdout.isatty():
        lines = _fitting(lines)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        click.echo(GAP.join(cells).rstrip())


def _fitting(lines: list[Sequence[str]]) -> list[Sequence[str]]:
    """Return the columns that fit a terminal, with long cells cut.

    These are the last column and as many of the first ones as fit beside it.
    """
    columns = [
        [x if len(x) <= MAX_CELL else f"{x[: MAX_CELL - 1]}…" for x in column]
        for column in zip(*lines, strict=True)
        if set(column[1:]) != {"-"}
    ]
    chosen, room = [], MAX_WIDTH + len(GAP)
    for column in (columns[-1], *columns[:-1]):
        if (width := max(map(len, column)) + len(GAP)) <= room:
            chosen.append(column)
            room -= width
    if left_out := [column[0] for column in columns if column not in chosen]:
        say(f"Only with --json: {', '.join(left_out)}.")
    return [*zip(*chosen[1:], chosen[0], strict=True)]


def _cell(value: object) -> str:
    if isinstance(value, dict):
        value = list(_pairs(value))
    if isinstance(value, list):
        return " ".join(value) or "-"
    return "-" if value is None else str(value)


def _pairs(facts: dict[str, Any], of: str = "") -> Iterator[str]:
    for name, value in facts.items():
        if isinstance(value, dict):
            yield from _pairs(value, f"{name}.")
        elif value is not None:
            yield f"{of}{name}={value}"
