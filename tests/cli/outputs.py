"""What commands print, taken apart."""

import re

from click.testing import Result


def printed(result: Result) -> str:
    """The one word that a command prints for the script that called it."""
    assert (result.exit_code, result.stderr) == (0, "")
    [line] = result.stdout.splitlines()
    return line


def table(result: Result) -> list[dict[str, str]]:
    """The rows of a table, by the heads of its columns."""
    assert (result.exit_code, result.stderr) == (0, "")
    heads, *rows = (re.split(r" {2,}", line) for line in result.stdout.splitlines())
    return [dict(zip(heads, row, strict=True)) for row in rows]


def refusal(result: Result) -> str:
    """The one line on stderr with which a wrong argument ends."""
    assert (result.exit_code, result.stdout) == (2, "")
    [line] = result.stderr.splitlines()
    return line.removeprefix("Error: ")
