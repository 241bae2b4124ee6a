"""Helpers that check and parse what commands print."""

import re

from click.testing import Result


def printed(result: Result) -> str:
    """Return the only line that a command printed."""
    [line] = text_of(result).splitlines()
    return line


def table(result: Result) -> list[dict[str, str]]:
    """Return the rows of a printed table as dicts by column heading."""
    lines = text_of(result).splitlines()
    heads, *rows = (re.split(r" {2,}", line) for line in lines)
    return [dict(zip(heads, row, strict=True)) for row in rows]


def text_of(result: Result) -> str:
    """Return what a command that succeeded printed."""
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def refusal(result: Result) -> str:
    """Return the one-line message with which a command refused its arguments."""
    return _message(result, exit_code=2)


def failure(result: Result) -> str:
    """Return the one-line message with which a command failed."""
    return _message(result, exit_code=1)


def _message(result: Result, exit_code: int) -> str:
    assert (result.exit_code, result.stdout) == (exit_code, "")
    [line] = result.stderr.splitlines()
    assert line.startswith("Error: ")
    return line.removeprefix("Error: ")
