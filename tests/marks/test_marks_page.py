"""docs/marks.md is what `make marks` writes, with a row for each mark."""

import ast
import re

import pytest

from tests.harness.servers import ROOT
from tests.marks.page import NAMES, PAGE, text_of, written_rows

PLACES = ("tests/requirements-marks.txt", "tests/marks/requirements-httplint.txt")


def test_page_has_a_row_for_each_mark_and_only_what_the_command_writes():
    rows = written_rows()
    assert [row[0] for row in rows] == NAMES
    assert PAGE.read_text() == text_of(rows)
    assert all(all(row) and len(row) == 6 for row in rows)


def test_page_has_at_most_600_words():
    assert len(PAGE.read_text().split()) <= 600


def test_requirements_are_pinned():
    lines = [
        line for place in PLACES for line in (ROOT / place).read_text().splitlines()
    ]
    for line in lines:
        assert re.match(r"#|-r |[\w-]+==[\d.]+$", line), line


@pytest.mark.parametrize("name", NAMES)
def test_each_mark_says_what_it_is(name: str):
    module = ast.parse((ROOT / f"tests/marks/{name}.py").read_text())
    assert ast.get_docstring(module)
