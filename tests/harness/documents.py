"""The tables, commands and the web page of the documentation."""

import re
from collections.abc import Iterator
from itertools import takewhile
from textwrap import dedent
from typing import Any

import click

from tests.harness.servers import ROOT


def rows_of(page: str, heading: str) -> list[list[str]]:
    """Return the body rows of the first table below a heading."""
    text = (ROOT / "docs" / page).read_text()
    lines = text.partition(f"# {heading}\n")[2].splitlines()
    while lines and not lines[0].startswith("|"):
        lines.pop(0)
    table = list(takewhile(lambda line: line.startswith("|"), lines))
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table[2:]]


def code_in(cell: str) -> list[str]:
    """Return what a cell shows as code."""
    return re.findall("`([^`]+)`", cell)


def commands_below(page: str, heading: str) -> list[str]:
    """Return what a page prints for a shell below a heading, a block each."""
    section = (ROOT / page).read_text().partition(f"# {heading}\n")[2]
    section = re.split("^#+ ", section, maxsplit=1, flags=re.MULTILINE)[0]
    blocks = re.findall("^ *```sh\n(.*?)^ *```$", section, re.MULTILINE | re.DOTALL)
    return [dedent(block) for block in blocks]


def commands_of(group: click.Group, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each command of the service with its name."""
    context = click.Context(group)
    for word in group.list_commands(context):
        command = group.get_command(context, word)
        if isinstance(command, click.Group):
            yield from commands_of(command, f"{name}{word} ")
        else:
            yield f"{name}{word}", command
