"""Cells: no spreadsheet takes one for a formula, and each text comes back."""

import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from petstore.sheets.lines import defused, restored

SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20"
texts = st.text(st.sampled_from(f"{SIGNS}'\";, \u3000ax\t")) | st.text()


@given(st.lists(texts))
def test_each_text_comes_back_through_a_file(cells: list[str]):
    file = io.StringIO(newline="")
    csv.writer(file).writerows([1, defused(cell)] for cell in cells)
    lines = csv.reader(io.StringIO(file.getvalue(), newline=""), strict=True)
    assert [restored(cell) for _, cell in lines] == cells


@given(texts)
def test_no_cell_begins_like_a_formula(text: str):
    # Where semicolons separate cells, a cell begins after each.
    for cell in defused(text).split(";"):
        assert not cell.lstrip('" \u3000\xa0').startswith(tuple(SIGNS))


def test_formula_gets_an_apostrophe_and_no_other_text():
    for text in ("Rex", "'Rex", "a=b", "Rex; the dog", "O'Hara-3"):
        assert defused(text) == text
    for text, written in (("=1", "'=1"), ("'=1", "''=1"), ("a;@b", "a;'@b")):
        assert defused(text) == written
