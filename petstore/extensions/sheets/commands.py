"""flask animals export and import."""

import sys
from collections.abc import Callable, Iterable
from typing import IO, Any

import click

from petstore import timeouts
from petstore.cli.commands import Group
from petstore.cli.projects import chosen_project, project_option
from petstore.extensions.sheets import choices as sheets
from petstore.extensions.sheets import exports, imports, storing
from petstore.extensions.sheets.choices import OPTIONS, STATUS, Choices, seen_of
from petstore.extensions.sheets.imports import LinesAtFault, Question, Sheet
from petstore.extensions.sheets.lines import require_small

WRONG_ARGUMENT = 2  # the exit code
ONE_PROJECT = "Slug of the project; optional if there is only one."
REPEATED = ("column", "all", "status")  # options that may be given several times
READING = {name: OPTIONS[name] for name in OPTIONS if name != "add_again"}
USUAL = {"heads": "1", "separator": ","}  # which nobody has to be told

animals = Group(name="animals", help="Animals as CSV, for spreadsheets.")


def _reading_options(command: Callable[..., None]) -> Callable[..., None]:
    for name, option in reversed(READING.items()):
        given: dict[str, Any] = {"metavar": option.form, "help": f"{option.label}."}
        given["multiple"] = name in REPEATED
        command = click.option(f"--{name.replace('_', '-')}", **given)(command)
    return command


@animals.command("export")
@project_option(ONE_PROJECT)
@click.option("--separator", default=",", help="Between cells.")
def export(slug: str | None, separator: str) -> None:
    """Print all animals of a project."""
    chosen = _read_options(separator=separator)
    for part in exports.animals(chosen_project(slug).id, chosen["separator"]):
        click.echo(part, nl=False)


@animals.command("import")
@project_option(ONE_PROJECT)
@_reading_options
@click.option("--again", "add_again", flag_value="yes", help="Add animals again.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.option("--yes", is_flag=True, help="Do not ask before animals are corrected.")
@click.argument("file", type=click.File("rb"))
def import_file(
    file: IO[bytes], slug: str | None, *, dry_run: bool, yes: bool, **options: Any
) -> None:
    """Add and correct all animals of a file, or none; print how many were added.

    The columns are name, and categoryId or category, and perhaps status. A line with
    the id of an animal corrects it. What a file of another system calls them is
    guessed, and chosen by options. While a large file is written, others that write
    wait, or get a 503: on PostgreSQL those of the same project, on SQLite all.
    """
    project = chosen_project(slug)
    chosen = _read_options(**options)
    content = require_small(file.read(timeouts.LIMITS.import_bytes + 1))
    try:
        done = imports.foresee(project, content, chosen)
        _require_known(done.sheet, chosen)
        done.require_no_fault()
        is_asked = bool(done.corrected) and not (dry_run or yes)
        if dry_run:
            _echo_pets([*done.first, *done.last])
        elif is_asked:
            _echo_pets(map(done.shown, done.corrected[: imports.SHOWN]))
            _ask(len(done.corrected))
        if not dry_run:
            done = storing.store(project, done, is_shown=is_asked)
    except LinesAtFault as error:
        _echo_faults(error)
        raise click.exceptions.Exit(WRONG_ARGUMENT) from None
    click.echo(len(done.added))
    _echo_guesses(done.sheet)
    if done.corrected:
        click.echo(f"Corrected: {len(done.corrected):,}.", err=True)
    for note in done.sheet.notes:
        click.echo(note, err=True)
    if dry_run:
        names = ", ".join(done.new_categories) or "none"
        click.echo(f"New categories: {names}. Nothing was done.", err=True)


def _read_options(**options: Any) -> Choices:
    """Return what options choose, in the fields of the page."""
    chosen: dict[str, str] = {}
    for option, given in options.items():
        for text in given if option in REPEATED else filter(None, [given]):
            fields = _fields(option, text)
            if not all(sheets.read_choices([field]) for field in fields):
                form, name = OPTIONS[option].form, f"--{option.replace('_', '-')}"
                raise click.BadParameter(f"must be {form}.", param_hint=name)
            chosen |= sheets.read_choices(fields)
    return chosen


def _fields(option: str, text: str) -> list[tuple[str, str]]:
    value, _, ours = text.rpartition("=")
    if option == "status":
        return [(f"{STATUS}{sheets.folded_status(value)}", ours)]
    if option == "all":
        ours, _, value = text.partition("=")
        return [(f"all.{ours}", value)]
    if option == "column" and value and not ours:  # none is guessed from this head
        return [(guessed, "") for guessed in sheets.guess_columns({value: ()})]
    return [(ours, seen_of(value))] if option == "column" else [(option, text)]


def _require_known(sheet: Sheet, chosen: Choices) -> None:
    """Refuse heads that are not there, and ask for what only people can judge."""
    for name, head in chosen.items():
        if name not in sheet.chosen:
            heads = ", ".join(sheet.table.heads)
            raise click.UsageError(f"There is no column {head}. There are: {heads}.")
    table = sheet.table
    if table.is_guess and not table.is_mixed and "encoding" not in chosen:
        letters = " / ".join(table.other_letters)
        text = f"Choose the encoding, in which these lines are right: {letters}"
        question = Question("encoding", text, f'--encoding "{table.encoding}"')
        sheet.questions.insert(0, question)


def _echo_guesses(sheet: Sheet) -> None:
    """Say what was guessed and is not what the words themselves say."""
    guesses = []
    for name, text in sheet.choices.items():
        usual = {"", USUAL.get(name, name.lower()), sheet.chosen.get(name, "").lower()}
        if text.lower() not in usual:
            guesses.append(f"{name.removeprefix(STATUS)} is {text}")
    if guesses:
        click.echo(f"Guessed: {', '.join(guesses)}.", err=True)


def _ask(corrected: int) -> None:
    if not sys.stdin.isatty():
        text = "Nothing was done, since animals would be corrected. Add --yes to do it"
        raise click.UsageError(f"{text}, or --dry-run to see more.")
    question = f"Correct {corrected:,} animal{'s' if corrected != 1 else ''}?"
    click.confirm(question, abort=True, err=True)


def _echo_pets(pets: Iterable[imports.Shown]) -> None:
    for pet in pets:
        cells = [
            f"{pet.there[x]} → {pet.new[x]}" if pet.there and x in pet.new else text
            for x, text in (pet.there | pet.new).items()
        ]
        click.echo(f"{pet.id or 'New'}: {', '.join(cells)}", err=True)


def _echo_faults(error: LinesAtFault) -> None:
    for question in error.questions:
        click.echo(f"{question.text} ({question.option}).", err=True)
    for fault in error.faults[: imports.SHOWN]:
        click.echo(fault, err=True)
    if (more := len(error.faults) - imports.SHOWN) > 0:
        click.echo(f"And {more} more lines are at fault.", err=True)
    for ours in imports.NEEDED:
        if any(f"{ours} is required" in fault.text for fault in error.faults):
            option = f"--without-{ours} {sheets.LEFT_OUT}"
            click.echo(f"{option} leaves lines without a {ours} out.", err=True)
    has_reason = error.faults or error.questions
    click.echo("Nothing was added." if has_reason else error, err=True)
