"""Lines and cells of files, as spreadsheets write them: CSV of several kinds."""

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import count, zip_longest
from typing import Any, NamedTuple

from marshmallow import EXCLUDE
from peewee import chunked

from petstore import clock, timeouts
from petstore.concurrency import give_way
from petstore.models import RuleError
from petstore.schemas.pets import FilePetSchema
from petstore.storage import NEVER, deadline

AFTER_QUOTE = "there is text after a closing quotation mark"
FIELDS = FilePetSchema(unknown=EXCLUDE)
_HEADS = [each.data_key or name for name, each in FIELDS.fields.items()]
HEADS = {head.lower(): head for head in _HEADS}
DELIMITERS = ",;\t"
# How a zip file begins, and a workbook from before 2007.
WORKBOOKS = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_SEPARATOR = re.compile(r'"?sep=([^"\r\n])"?[,;\t]*(?:\r\n?|\n|$)', re.IGNORECASE)

# A spreadsheet runs what begins with `=`, `+`, `-` or `@`, or with one of their wide
# forms, perhaps after white space and quotation marks. Where semicolons separate cells,
# a cell begins after each. An apostrophe at such a place makes it a text. Without one,
# a text such as `007`, `1/2` or `1e5` would come back as another number, or as a date.
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


class NotReadable(RuleError):
    text = "{}."


class Fault(NamedTuple):
    """What is wrong with a line; the first line of the file is line 1."""

    line: int
    text: str

    def __str__(self) -> str:
        return f"Line {self.line}: {self.text}"


def read_lines(
    content: bytes, faults: list[Fault]
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the number of each line below the heads, and its cells by their heads.

    Lines at fault go to `faults` instead. Raises `NotReadable`.
    """
    text = _decoded(content)
    before, delimiters = 0, DELIMITERS
    if separator := _SEPARATOR.match(text):
        before, delimiters = 1, separator[1] + DELIMITERS
        text = text[separator.end() :]
    reader, heads = _open(text, delimiters, before + 1)
    lines = 0
    for rows in count():
        if rows % timeouts.LIMITS.imported_rows == 0:
            _go_on()
        number = before + reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            faults.append(Fault(number, _csv_fault(error)))
            return
        if not any(map(str.strip, cells)):
            continue
        if lines == timeouts.LIMITS.import_lines:
            raise NotReadable(f"The file has more than {lines:,} animals")
        lines += 1
        if any(cells[len(heads) :]):
            fault = f"has {len(cells)} cells, but the first line has {len(heads)}"
            faults.append(Fault(number, fault))
        else:
            yield number, dict(zip_longest(heads, cells, fillvalue=""))


def in_parts(items: Iterable[Any]) -> Iterator[list[Any]]:
    """Yield the items in lists, between which others go on."""
    for part in chunked(items, timeouts.LIMITS.imported_rows):
        yield part
        _go_on()


def _go_on() -> None:
    give_way()
    if deadline.get() < NEVER:  # a request may wait as long again; a command has none
        deadline.set(clock.monotonic() + timeouts.LIMITS.stores_seconds)


def _open(text: str, delimiters: str, number: int) -> tuple[Any, list[str]]:
    """Return a reader of what follows the heads, and these.

    They are separated by the first of the delimiters that makes one `name` or `id`.
    """
    for delimiter in delimiters:
        reader = csv.reader(
            io.StringIO(text, newline=""), delimiter=delimiter, strict=True
        )
        heads = _read_heads(reader, number)
        if {"name", "id"} & {*heads}:
            break
    else:
        raise NotReadable(f"Line {number}: there is no column name")
    if not {"id", "categoryId", "category"} & {*heads}:
        raise NotReadable(f"Line {number}: there is no column categoryId or category")
    for head in HEADS.values():
        if heads.count(head) > 1:
            raise NotReadable(f"Line {number}: there are two columns {head}")
    return reader, heads


def _read_heads(reader: Any, number: int) -> list[str]:
    try:
        heads = [head.strip() for head in next(reader, [])]
    except csv.Error as error:
        if (fault := _csv_fault(error)) == AFTER_QUOTE:
            return []  # in quotation marks, with another delimiter between them
        raise NotReadable(f"Line {number}: {fault}") from None
    return [HEADS.get(head.lower(), head) for head in heads]


def _decoded(content: bytes) -> str:
    if content.startswith(WORKBOOKS):
        raise NotReadable(
            "The file is a workbook. Open it in the spreadsheet, save it as CSV (if "
            "there is a choice, as CSV UTF-8), and choose that file"
        )
    marked = [name for mark, name in MARKS.items() if content.startswith(mark)]
    for encoding in marked or ("utf-8", "cp1252"):
        with suppress(UnicodeDecodeError):
            text = content.decode(encoding)
            break
    else:
        raise NotReadable(
            "The file is neither UTF-8, UTF-16 nor Windows-1252. Save it as CSV UTF-8"
        )
    if "\0" in text:
        raise NotReadable("The file contains NUL, so it is no text")
    if not text.strip():
        raise NotReadable("The file is empty")
    return text


def _csv_fault(error: csv.Error) -> str:
    if "expected after" in str(error):
        return AFTER_QUOTE
    fault = "a quotation mark is not closed"
    if str(error).startswith("field larger"):
        fault += f", or a cell has more than {csv.field_size_limit():,} characters"
    return fault
