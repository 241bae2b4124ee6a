"""Output of lists: a table for people, or one JSON array for scripts."""

from collections.abc import Iterable, Sequence

import click
import orjson

from petstore.clock import rfc3339

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON array, for scripts."
)


def echo_list(
    heads: Sequence[str], rows: Iterable[Sequence[object]], *, as_json: bool
) -> None:
    """Print the rows in a table, or as objects with the heads as names."""
    if as_json:
        names = [_camel(head) for head in heads]
        echo_json(dict(zip(names, row, strict=True)) for row in rows)
    else:
        _echo_table(heads, rows)


def echo_json(rows: Iterable[object]) -> None:
    """Print one JSON array on one line."""
    click.echo(orjson.dumps(list(rows)))


def format_instant(instant: int | None) -> str | None:
    """Format an instant, in milliseconds, to the second."""
    return None if instant is None else f"{rfc3339(instant)[:19]}Z"


def _camel(head: str) -> str:
    first, *rest = head.lower().split()
    return first + "".join(word.capitalize() for word in rest)


def _echo_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    lines = [heads, *(list(map(_cell, row)) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        click.echo("  ".join(cells).rstrip())


def _cell(value: object) -> str:
    if isinstance(value, list):
        return " ".join(value) or "-"
    return "-" if value is None else str(value)
