"""Helpers that check and parse what commands print."""

import re

from click.testing import Result


def printed(result: Result) -> str:
    """Return the only line that a command printed."""
    assert (result.exit_code, result.stderr) == (0, "")
    [line] = result.stdout.splitlines()
    return line


def table(result: Result) -> list[dict[str, str]]:
    """Return the rows of a printed table as dicts by column heading."""
    assert (result.exit_code, result.stderr) == (0, "")
    heads, *rows = (re.split(r" {2,}", line) for line in result.stdout.splitlines())
    return [dict(zip(heads, row, strict=True)) for row in rows]


def refusal(result: Result) -> str:
    """Return the one-line message with which a command refused its arguments."""
    assert (result.exit_code, result.stdout) == (2, "")
    [line] = result.stderr.splitlines()
    return line.removeprefix("Error: ")
