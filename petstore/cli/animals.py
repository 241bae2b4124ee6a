"""flask animals export and import."""

from typing import IO

import click

from petstore import timeouts
from petstore.cli.commands import Group
from petstore.cli.projects import chosen_project, project_option
from petstore.sheets import exports
from petstore.sheets.imports import LinesAtFault, Sheet, foresee, store
from petstore.sheets.lines import Fault

WRONG_ARGUMENT = 2  # the exit code
SHOWN_FAULTS = 20
ONE_PROJECT = "Slug of the project; optional if there is only one."

animals = Group(name="animals", help="Animals as CSV, for spreadsheets.")


@animals.command("export")
@project_option(ONE_PROJECT)
def export(slug: str | None) -> None:
    """Print all animals of a project."""
    project = chosen_project(slug)
    for part in exports.animals(project.id):
        click.echo(part, nl=False)


@animals.command("import")
@project_option(ONE_PROJECT)
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.argument("file", type=click.File("rb"))
def import_file(file: IO[bytes], slug: str | None, *, dry_run: bool) -> None:
    """Add and correct all animals of a file, or none; print how many were added.

    The columns are name, and categoryId or category, and perhaps status. A line with
    the id of an animal corrects it. While a large file is written, others that write
    wait, or get a 503: on PostgreSQL those of the same project, on SQLite all.
    """
    project = chosen_project(slug)
    try:
        done = foresee(project, Sheet(_read(file)))
        done.require_no_fault()
        if not dry_run:
            done = store(project, done)
    except LinesAtFault as error:
        _echo_faults(error.faults)
        raise click.exceptions.Exit(WRONG_ARGUMENT) from None
    click.echo(len(done.added))
    if done.corrected:
        click.echo(f"Corrected: {len(done.corrected):,}.", err=True)
    if dry_run:
        names = ", ".join(done.new_categories) or "none"
        click.echo(f"New categories: {names}. Nothing was done.", err=True)


def _read(file: IO[bytes]) -> bytes:
    limit = timeouts.LIMITS.import_bytes
    try:
        content = file.read(limit + 1)
    except OSError as error:
        raise click.UsageError(f"FILE: {error.strerror}.") from None
    if len(content) > limit:
        raise click.UsageError(f"FILE has more than {limit // 1024**2} MiB.")
    return content


def _echo_faults(faults: list[Fault]) -> None:
    for fault in faults[:SHOWN_FAULTS]:
        click.echo(fault, err=True)
    if (more := len(faults) - SHOWN_FAULTS) > 0:
        click.echo(f"And {more} more lines are at fault.", err=True)
    click.echo("Nothing was added.", err=True)
