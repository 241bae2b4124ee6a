"""Tables on a terminal."""

from collections.abc import Iterable, Sequence

import click

from petstore.clock import rfc3339


def echo_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print the rows under their heads, each column as wide as it needs to be."""
    lines = [heads, *(["-" if c is None else str(c) for c in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        click.echo("  ".join(cells).rstrip())


def moment(instant: int | None) -> str | None:
    """An instant to the second, as a cell."""
    return None if instant is None else f"{rfc3339(instant)[:19]}Z"
