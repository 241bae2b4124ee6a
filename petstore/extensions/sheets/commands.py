"""flask animals export and import."""

import re
import sys
from collections.abc import Callable, Sequence
from typing import IO, Any

import click

from petstore import timeouts
from petstore.cli.commands import Group
from petstore.cli.projects import chosen_project, project_option
from petstore.extensions.sheets import exports, imports, storing
from petstore.extensions.sheets.choices import ENCODINGS, HEADS, Choices, guess_columns
from petstore.extensions.sheets.imports import LinesAtFault, Preview, Question, Sheet
from petstore.extensions.sheets.lines import TooLarge
from petstore.models.pets import STATUSES

WRONG_ARGUMENT = 2  # the exit code
SHOWN = 20  # faults, and animals
LAST = 5  # animals of the file
ONE_PROJECT = "Slug of the project; optional if there is only one."

animals = Group(name="animals", help="Animals as CSV, for spreadsheets.")


def _checked(pattern: str, form: str) -> Callable[..., Any]:
    """Return a function that requires texts like a pattern, and names their form."""

    def check(_: object, __: object, given: Any) -> Any:
        for text in given if isinstance(given, tuple) else [given or ""]:
            if text and not re.fullmatch(pattern, text, re.DOTALL):
                raise click.BadParameter(f"must be {form}.")
        return given

    return check


_HEADS, _STATUSES = "|".join(HEADS), "|".join(STATUSES)
_separator = _checked('[^"\r\n ]', "one character")
_heads = _checked("none|[1-9][0-9]{0,8}", "the number of a line, or none")
_columns = _checked(f".+=(?:{_HEADS}|)", f"HEAD=, or HEAD={_HEADS}")
_values = rf"category=.*\S.*|status=(?:{_STATUSES})"
_all = _checked(_values, f"category=NAME, or status={_STATUSES}")
_statuses = _checked(f".+=(?:{_STATUSES}|out)", f"VALUE={_STATUSES}|out")
_entities = _checked("read|keep", "read, or keep")
# How the file is read, as on the page about it: the form of each option, and its help.
OPTIONS = {
    "--separator": ("CHAR", _separator, "Between cells."),
    "--heads": ("LINE|none", _heads, "The line with the heads of the columns."),
    "--without-name": ("skip|HEAD", None, "Leaves these out, or names them by HEAD."),
    "--without-category": ("skip|NAME", None, "Leaves these out, or takes NAME."),
    "--leave-out": ("32,40-45", None, "Leaves these lines out."),
    "--entities": ("read|keep", _entities, "What becomes of texts such as &amp;."),
}
REPEATED = {
    "--column": ("HEAD=name", _columns, f"What a column is: {', '.join(HEADS)}."),
    "--all": ("category=Cats", _all, "The category, or the status, of all animals."),
    "--status": ("VALUE=sold", _statuses, "What a status means; out leaves it out."),
}


def _reading_options(command: Callable[..., None]) -> Callable[..., None]:
    for name, (form, check, text) in reversed((OPTIONS | REPEATED).items()):
        given: dict[str, Any] = {"metavar": form, "callback": check, "help": text}
        given["multiple"] = name in REPEATED
        command = click.option(name, **given)(command)
    return command


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
@click.option("--encoding", type=click.Choice([*ENCODINGS], case_sensitive=False))
@_reading_options
@click.option("--again", is_flag=True, help="Add animals that are here already.")
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
    chosen = _choices(**choices)
    try:
        done = imports.foresee(project, _read(file), chosen)
        _require_heads(chosen, done.sheet)
        if (table := done.sheet.table).is_guess and not (
            table.is_mixed or chosen.encoding
        ):
            lines = " / ".join(table.other_letters)
            text = f"Choose the encoding, in which these lines are right: {lines}"
            question = Question("encoding", text, f'--encoding "{table.encoding}"')
            done.sheet.questions.insert(0, question)
        done.require_no_fault()
        if dry_run or (done.corrected and not yes):
            _echo_first(done, SHOWN if dry_run else min(len(done.corrected), SHOWN))
        is_asked = bool(done.corrected) and not (dry_run or yes)
        if is_asked:
            _ask(len(done.corrected))
        if not dry_run:
            done = storing.store(project, done, is_shown=is_asked)
    except LinesAtFault as error:
        _echo_faults(error)
        raise click.exceptions.Exit(WRONG_ARGUMENT) from None
    click.echo(len(done.added))
    _echo_guesses(done.sheet, chosen)
    if done.corrected:
        click.echo(f"Corrected: {len(done.corrected):,}.", err=True)
    for reason, count in done.sheet.left_out.items():
        click.echo(f"Left out, {reason}: {count:,}.", err=True)
    if heads := ", ".join(done.sheet.not_stored):
        click.echo(f"Not stored here: {heads}.", err=True)
    if dry_run:
        names = ", ".join(done.new_categories) or "none"
        click.echo(f"New categories: {names}. Nothing was done.", err=True)


def _choices(
    column: Sequence[str], status: Sequence[str], all: Sequence[str], **others: Any
) -> Choices:
    columns: dict[str, str] = {}
    for head, ours in (option.rpartition("=")[::2] for option in column):
        # Without one of ours, none is guessed from the head.
        guessed = guess_columns([head]).items() if not ours else ()
        columns |= {ours: head} if ours else {x: "" for x, found in guessed if found}
    meanings = (option.rpartition("=")[::2] for option in status)
    statuses = {imports.folded_status(text): meant for text, meant in meanings}
    values = dict(option.partition("=")[::2] for option in all)
    given = {name: text for name, text in others.items() if text is not None}
    return Choices(columns, statuses, values=values, **given)


def _require_heads(choices: Choices, sheet: Sheet) -> None:
    given = {head: ours in sheet.chosen for ours, head in choices.columns.items()}
    given[choices.without_name] = bool(sheet.choices.without_name)
    for head, is_known in given.items():
        if head and not is_known:
            columns = ", ".join(sheet.table.heads)
            raise click.UsageError(f"There is no column {head}. There are: {columns}.")


def _echo_guesses(sheet: Sheet, chosen: Choices) -> None:
    """Say what was guessed and is not what the words themselves say."""
    choices, guesses = sheet.choices, []
    if choices.heads not in ("1", chosen.heads):
        guesses.append(f"the heads stand in line {choices.heads}")
    for ours, head in choices.columns.items():
        if head and ours not in sheet.chosen and head.casefold() != ours.casefold():
            guesses.append(f"{head} is {ours}")
    for status, meant in choices.statuses.items():
        if status not in chosen.statuses:
            guesses.append(f"{sheet.statuses[status]} is {meant}")
    if guesses:
        click.echo(f"Guessed: {', '.join(guesses)}.", err=True)


def _ask(corrected: int) -> None:
    if not sys.stdin.isatty():
        text = "Nothing was done, since animals would be corrected. Add --yes to do it"
        raise click.UsageError(f"{text}, or --dry-run to see more.")
    question = f"Correct {corrected:,} animal{'s' if corrected != 1 else ''}?"
    click.confirm(question, abort=True, err=True)


def _echo_first(preview: Preview, count: int) -> None:
    shown = preview.first(count)
    for pet in shown + (preview.last(LAST, shown[-1].line) if shown else []):
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
        raise TooLarge(limit // 1024**2)
    return content


def _echo_faults(error: LinesAtFault) -> None:
    for question in error.questions:
        click.echo(f"{question.text} ({question.option}).", err=True)
    for fault in error.faults[:SHOWN]:
        click.echo(fault, err=True)
    if (more := len(error.faults) - SHOWN) > 0:
        click.echo(f"And {more} more lines are at fault.", err=True)
    for ours in imports.NAMED:
        if any(f"{ours} is required" in fault.text for fault in error.faults):
            option = f"--without-{ours} {Choices.LEFT_OUT}"
            click.echo(f"{option} leaves lines without a {ours} out.", err=True)
    has_reason = error.faults or error.questions
    click.echo("Nothing was added." if has_reason else error, err=True)
