"""Linters find nothing in the interface description, apart from stated exceptions."""

from pathlib import Path

import pytest

from tests.harness.documents import code_in, rows_of
from tests.harness.linters import LINTERS, left_out, lint


@pytest.mark.parametrize("linter", LINTERS)
def test_linter_finds_nothing(sqlite_url: str, tmp_path: Path, linter: str):
    findings, _ = lint(linter, sqlite_url, tmp_path)
    assert findings == []


def test_each_exception_of_the_linters_is_documented():
    told = [code_in(row[0])[0] for row in rows_of("api.md", "Linters")]
    assert told == left_out()
