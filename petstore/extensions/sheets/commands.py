"""flask animals export and import."""

import sys
from typing import IO, Any

import click

from petstore import timeouts
from petstore.cli.commands import Group
from petstore.cli.projects import chosen_project, project_option
from petstore.extensions.sheets import exports
from petstore.extensions.sheets.choices import (
    ENCODINGS,
    HEADS,
    LEFT_OUT,
    Choices,
    guess,
)
from petstore.extensions.sheets.imports import (
    LinesAtFault,
    Preview,
    folded_status,
    foresee,
    store,
)
from petstore.extensions.sheets.lines import is_separator
from petstore.models.pets import STATUSES

WRONG_ARGUMENT = 2  # the exit code
SHOWN = 20  # faults, and animals
ONE_PROJECT = "Slug of the project; optional if there is only one."

animals = Group(name="animals", help="Animals as CSV, for spreadsheets.")


def _columns(_: object, __: object, options: tuple[str, ...]) -> dict[str, str]:
    """Return the head in the file for each of ours, or "" for none."""
    columns: dict[str, str] = {}
    for option in options:
        head, _, ours = option.rpartition("=")
        if not ours:  # no column of ours is guessed from this head
            columns |= {each: "" for each in HEADS if guess(each, [head])}
        elif head and ours in HEADS:
            columns[ours] = head
        else:
            raise click.BadParameter(f"must be HEAD=, or HEAD={'|'.join(HEADS)}.")
    return columns


def _statuses(_: object, __: object, options: tuple[str, ...]) -> dict[str, str]:
    statuses: dict[str, str] = {}
    for option in options:
        value, _, meant = option.rpartition("=")
        if meant not in STATUSES:
            raise click.BadParameter(f"must be VALUE={'|'.join(STATUSES)}.")
        statuses[folded_status(value)] = meant
    return statuses


def _separator(_: object, __: object, text: str | None) -> str | None:
    if text is not None and not is_separator(text):
        raise click.BadParameter("must be one character.")
    return text


@animals.command("export")
@project_option(ONE_PROJECT)
@click.option("--separator", default=",", callback=_separator, help="Between cells.")
def export(slug: str | None, separator: str) -> None:
    """Print all animals of a project."""
    project = chosen_project(slug)
    for part in exports.animals(project.id, separator):
        click.echo(part, nl=False)


@animals.command("import")
@project_option(ONE_PROJECT)
@click.option(
    *("--column", "columns"),
    multiple=True,
    callback=_columns,
    metavar="HEAD=name",
    help="What a column is: name, category, categoryId, status or id (the numbers of "
    "animals here, which are corrected). HEAD= leaves it out.",
)
@click.option(
    *("--status", "statuses"),
    multiple=True,
    callback=_statuses,
    metavar="VALUE=sold",
    help="What a status of another system means.",
)
@click.option(
    "--without-name",
    default="",
    metavar="skip|HEAD",
    help="Leave lines without a name out, or take the name from another column.",
)
@click.option("--encoding", type=click.Choice([*ENCODINGS], case_sensitive=False))
@click.option("--separator", callback=_separator, help="Between cells; else guessed.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.option("--yes", is_flag=True, help="Do not ask before animals are corrected.")
@click.argument("file", type=click.File("rb"))
def import_file(
    file: IO[bytes], slug: str | None, *, dry_run: bool, yes: bool, **choices: Any
) -> None:
    """Add and correct all animals of a file, or none; print how many were added.

    The columns are name, and categoryId or category, and perhaps status. A line with
    the id of an animal corrects it. What a file of another system calls them is
    guessed, and chosen by options. While a large file is written, others that write
    wait, or get a 503: on PostgreSQL those of the same project, on SQLite all.
    """
    project = chosen_project(slug)
    chosen = Choices(**choices)
    try:
        done = foresee(project, _read(file), chosen)
        _require_heads(chosen, done.sheet.table.heads)
        done.require_no_fault()
        if dry_run or (done.corrected and not yes):
            _echo_first(done, SHOWN if dry_run else min(len(done.corrected), SHOWN))
        is_asked = bool(done.corrected) and not (dry_run or yes)
        if is_asked:
            _ask(len(done.corrected))
        if not dry_run:
            done = store(project, done, is_shown=is_asked)
    except LinesAtFault as error:
        _echo_faults(error)
        raise click.exceptions.Exit(WRONG_ARGUMENT) from None
    click.echo(len(done.added))
    if done.corrected:
        click.echo(f"Corrected: {len(done.corrected):,}.", err=True)
    if left_out := done.sheet.left_out:
        click.echo(f"Left out, without a name: {left_out:,}.", err=True)
    if dry_run:
        names = ", ".join(done.new_categories) or "none"
        click.echo(f"New categories: {names}. Nothing was done.", err=True)


def _require_heads(choices: Choices, heads: list[str]) -> None:
    for head in (*choices.columns.values(), choices.without_name):
        if head not in ("", LEFT_OUT, *heads):
            columns = ", ".join(heads)
            raise click.UsageError(f"There is no column {head}. There are: {columns}.")


def _ask(corrected: int) -> None:
    if not sys.stdin.isatty():
        text = "Nothing was done, since animals would be corrected. Add --yes to do it"
        raise click.UsageError(f"{text}, or --dry-run to see more.")
    question = f"Correct {corrected:,} animal{'s' if corrected != 1 else ''}?"
    click.confirm(question, abort=True, err=True)


def _echo_first(preview: Preview, count: int) -> None:
    for pet in preview.first(count):
        cells = [
            f"{pet.there[x]} → {pet.new[x]}" if pet.there and x in pet.new else text
            for x, text in (pet.there | pet.new).items()
        ]
        click.echo(f"{pet.id or 'New'}: {', '.join(cells)}", err=True)


def _read(file: IO[bytes]) -> bytes:
    limit = timeouts.LIMITS.import_bytes
    try:
        content = file.read(limit + 1)
    except OSError as error:
        raise click.UsageError(f"FILE: {error.strerror}.") from None
    if len(content) > limit:
        raise click.UsageError(f"FILE has more than {limit // 1024**2} MiB.")
    return content


def _echo_faults(error: LinesAtFault) -> None:
    for fault in error.faults[:SHOWN]:
        click.echo(fault, err=True)
    if (more := len(error.faults) - SHOWN) > 0:
        click.echo(f"And {more} more lines are at fault.", err=True)
    for question in error.questions:
        click.echo(f"{question.text} ({question.option}).", err=True)
    if any("name is required" in fault.text for fault in error.faults):
        click.echo("--without-name skip leaves lines without a name out.", err=True)
    has_reason = error.faults or error.questions
    click.echo("Nothing was added." if has_reason else error, err=True)
