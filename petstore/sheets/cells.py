"""Texts in cells, written so that no spreadsheet takes one for a formula.

A spreadsheet runs what begins with `=`, `+`, `-` or `@`, or with one of their wide
forms, perhaps after white space and quotation marks. Where semicolons separate cells,
a cell begins after each. An apostrophe at such a place makes it a text.
"""

import re

_SIGNS = "=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20"
# Apostrophes too: what is written can be told from a text that had one already.
_BEFORE = "(?:['\"]|[^\\S\r\n\t])*"
_FORMULA = re.compile(f"(^|;)(?={_BEFORE}[{_SIGNS}])")
_DEFUSED = re.compile(f"(^|;)'(?={_BEFORE}[{_SIGNS}])")


def defused(text: str) -> str:
    """Return the text with an apostrophe wherever a formula would begin."""
    return _FORMULA.sub(r"\1'", text)


def restored(text: str) -> str:
    """Return the text that `defused` was called with."""
    return _DEFUSED.sub(r"\1", text)
