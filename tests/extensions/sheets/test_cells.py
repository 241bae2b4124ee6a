"""Cells: no spreadsheet takes one for a formula, and each text comes back."""

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from petstore.extensions.sheets import exports
from petstore.extensions.sheets.lines import defused, restored
from petstore.models.projects import Project
from tests.harness.browser import add_pet

SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20"
texts = st.text(st.sampled_from(f"{SIGNS}'\";, \u3000ax\t")) | st.text()


@pytest.mark.parametrize("separator", [",", ";"])
@given(cells=st.lists(texts))
def test_each_text_comes_back_through_a_file(separator: str, cells: list[str]):
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=separator)
    writer.writerows([1, defused(cell, separator)] for cell in cells)
    file.seek(0)
    lines = csv.reader(file, delimiter=separator, strict=True)
    assert [restored(cell) for _, cell in lines] == cells


@pytest.mark.parametrize(("separator", "separators"), [(",", ";"), (";", "[;,]")])
@given(text=texts)
def test_no_cell_begins_like_a_formula(separator: str, separators: str, text: str):
    # A program may separate by another character than the file does.
    for cell in re.split(separators, defused(text, separator)):
        assert not cell.lstrip('" \u3000\xa0').startswith(tuple(SIGNS))


def test_formula_gets_an_apostrophe_and_no_other_text():
    texts = ("Rex", "'Rex", "a=b", "Rex; the dog", "O'Hara-3", "Litter 4, 12.03.24")
    for text in texts:
        assert defused(text) == defused(text, ";") == text
    for text, written in (("=1", "'=1"), ("'=1", "''=1"), ("a;@b", "a;'@b")):
        assert defused(text) == defused(text, ";") == written
    assert (defused("a,=1+1,b"), defused("a,'=1")) == ("a,=1+1,b", "a,''=1")
    assert defused("a,=1+1, -b", ";") == "a,'=1+1,' -b"


def test_cell_with_a_comma_is_quoted_among_semicolons(project: Project):
    for name in ("a,=1+1,b", "Rex"):
        add_pet(project, name)
    file = b"".join(exports.animals(project.id, ";")).decode()
    _, first, second = file.splitlines()
    assert ';"a,\'=1+1,b";' in first
    assert ";Rex;" in second
