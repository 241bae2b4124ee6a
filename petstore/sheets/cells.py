"""Texts in cells, written so that spreadsheets take none for something else.

A spreadsheet runs what begins with `=`, `+`, `-` or `@`, or with one of their wide
forms, perhaps after white space and quotation marks. Where semicolons separate cells,
a cell begins after each. An apostrophe at such a place makes it a text. Without one, a
text such as `007`, `1/2` or `1e5` would come back as another number, or as a date.
"""

import re

_SIGNS = "=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20"
# Apostrophes too: what is written can be told from a text that had one already.
_BEFORE = "(?:['\"]|[^\\S\r\n\t])*"
# What spreadsheets write as they read it, such as 12, is not meant.
_NUMBER = "(?!(?:0|[1-9][0-9]{0,14})\\Z)[.,]?[0-9][0-9.,:/%eE\\s]*\\Z"
_MISTAKABLE = f"{_BEFORE}(?:[{_SIGNS}]|{_NUMBER})"
_BEGINNING = re.compile(f"(^|;)(?={_MISTAKABLE})")
_DEFUSED = re.compile(f"(^|;)'(?={_MISTAKABLE})")


def defused(text: str) -> str:
    """Return the text with an apostrophe where another kind of cell would begin."""
    return _BEGINNING.sub(r"\1'", text)


def restored(text: str) -> str:
    """Return the text that `defused` was called with."""
    return _DEFUSED.sub(r"\1", text)
