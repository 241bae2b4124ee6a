"""Checklists: requirements, each with its state and the tests that show it."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.harness.servers import ROOT

PLACE = Path(__file__).parent
STATES = {
    "test": "met by a test",
    "design": "met by design",
    "not met": "not met",
    "does not apply": "do not apply",
}
CITED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


class Row(NamedTuple):
    """What a requirement asks for, whether it is met, and what shows it, or why not."""

    number: str  # or that of a section, for all its requirements
    asked: str
    state: str
    shown: str


def rows_in(page: str) -> list[Row]:
    """Return the rows of all tables of a page beside this module."""
    lines = (PLACE / page).read_text().splitlines()
    tables = [line for line in lines if re.match(r"\| (API)?[0-9]", line)]
    return [Row(*(cell.strip() for cell in line.split("|")[1:-1])) for line in tables]


def missing_tests(rows: list[Row]) -> list[str]:
    """Return the tests that rows cite and that do not exist."""
    cited = {each for row in rows for each in CITED.findall(row.shown)}
    return [f"{file}::{name}" for file, name in cited if name not in names_in(file)]


@cache
def names_in(file: str) -> set[str]:
    """Return the names of the functions of a file, if there is one."""
    path = ROOT / file
    nodes = ast.walk(ast.parse(path.read_text() if path.exists() else ""))
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef)}


def result_of(page: str, states: list[str]) -> str:
    """Return how many requirements are in each state, with a link to the page."""
    count = Counter(states)
    told = [f"{count[state]} {STATES[state]}" for state in STATES if count[state]]
    return f"{', '.join(told)} ([table](../tests/marks/{page}))"
