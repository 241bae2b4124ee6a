"""Lines and cells of files, as spreadsheets write them: CSV of several kinds."""

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain, count, islice
from typing import Any, NamedTuple

from peewee import chunked

from petstore import clock, timeouts
from petstore.concurrency import give_way
from petstore.extensions.sheets.choices import (
    DELIMITERS,
    ENCODINGS,
    HEADS,
    WIDER,
    Choices,
    guess,
)
from petstore.models import RuleError
from petstore.storage import NEVER, deadline

NOT_CLOSED = "a quotation mark is not closed"
AFTER_QUOTE = "there is text after a closing quotation mark"
MAX_COLUMNS = 300
MAX_CELLS = 100_000  # of a line, as far as separators tell
MAX_HEAD_LENGTH = 100
MAX_LINES = 5  # that are shown because they have other letters than ASCII
SHOWN_LENGTH = 200  # of each of these lines
# A column that nobody reads may hold a picture.
csv.field_size_limit(timeouts.LIMITS.import_bytes)
_SAVED = "Open it in a spreadsheet, and save it as CSV (CSV UTF-8 if there is a choice)"
_COPIED = "Copy its table to a spreadsheet, and save that as CSV"
_EXPORTED = "Export the list as CSV from the program that it comes from"
_UNPACKED = "Unpack it, and choose the CSV file that is in it"
_PLAIN = "Save it as plain text (in TextEdit: Format, Make Plain Text)"
_NUMBERS = "In Numbers, choose File, Export To and CSV"
_ZIP = rb"PK\x03\x04"
# Files that are no CSV: how they begin, what else they contain, what they are, and what
# to do.
OTHER_FORMATS = (
    (_ZIP, b"word/", "a Word document", _COPIED),
    (_ZIP, b"xl/workbook", "an Excel workbook", _SAVED),
    (_ZIP, b"opendocument", "an OpenDocument file", _SAVED),
    (_ZIP, b".iwa", "a Numbers document", _NUMBERS),
    (_ZIP + rb"|\x1f\x8b|Rar!|7z\xbc\xaf", b"", "an archive", _UNPACKED),
    (rb"\xd0\xcf\x11\xe0", b"", "an old or encrypted workbook", _SAVED),
    (rb"%PDF", b"", "a PDF", _EXPORTED),
    (rb"\xff\xd8\xff|\x89PNG|GIF8|....ftyp", b"", "a picture or a film", _EXPORTED),
    (rb"\{\\rtf", b"", "a rich text (RTF)", _PLAIN),
    (rb"<", b"", "a web page (HTML) or XML", _SAVED),
    (rb"\{|\[\s*[\[{]", b"", "JSON", _EXPORTED),
    (rb"ID;P\w*(?:;[NE])*\r?\n[A-Z];", b"", "SYLK", _SAVED),
)
MARKS = dict.fromkeys((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), "utf-16")
MARKS |= {codecs.BOM_UTF8: "utf-8-sig"}
# A byte order mark, a soft hyphen, and blanks of no width: nobody sees them in a head.
_UNSEEN = re.compile("[\xad\u200b-\u200f\u2060\ufeff]")
_SEPARATOR = re.compile(r'"?sep=([^"\r\n])"?[,;\t]*(?:\r\n?|\n|$)', re.IGNORECASE)

# A spreadsheet runs what begins with `=`, `+`, `-` or `@`, or with one of their wide
# forms, perhaps after white space and quotation marks. Where semicolons separate cells,
# a cell begins after each. An apostrophe at such a place makes it a text. Without one,
# a text such as `007`, `1/2` or `1e5` would come back as another number, or as a date.
_RUN = "=+\\-@\uff1d\uff0b\uff0d\uff20"
_SIGNS = f"{_RUN}\t\r\n"
# Apostrophes too, so that `restored` knows which ones `defused` has added.
_BEFORE = "(?:['\"]|[^\\S\r\n\t])*"
# A number that spreadsheets write as they read it, such as 12, does not match.
_NUMBER = "(?!(?:0|[1-9][0-9]{0,14})\\Z)[.,]?[0-9][0-9.,:/%eE\\s]*\\Z"
# What a spreadsheet leaves in a cell that it could not compute, in two languages.
_ERROR = (
    r"#(?:N/A|NV|NAME\?|REF!|VALUE!|DIV/0!|NUM!|NULL!|SPILL!|CALC!|WERT!|BEZUG!|ZAHL!)"
    r"\s*\Z"
)
_MISTAKABLE = f"{_BEFORE}(?:[{_SIGNS}]|{_NUMBER}|{_ERROR})"
_FORMULA = f"{_BEFORE}[{_RUN}]"


def _places(added: str, after_comma: str) -> re.Pattern[str]:
    begins = f"(?:^|(?<=;)){added}(?={_MISTAKABLE})"
    # A first blank of a cell would be taken for one that follows the separator.
    return re.compile(f"{begins}|^{added}(?='* )|(?<=,){added}(?={after_comma})")


# Where commas separate cells, one within a cell begins none. An apostrophe is doubled
# there, since `restored` does not know how a spreadsheet has saved the file.
_AMONG_COMMAS = _places("", f"'{_FORMULA}")
_ELSEWHERE = _places("", _FORMULA)
_ADDED = _places("'", _FORMULA)
IS_ERROR = re.compile(rf"\s*{_ERROR}")


def defused(text: str, separator: str = ",") -> str:
    """Return the text with apostrophes, so that a spreadsheet takes it for a text.

    In a file with another separator than the comma, a program may separate by commas.
    """
    return (_AMONG_COMMAS if separator == "," else _ELSEWHERE).sub("'", text)


def restored(text: str) -> str:
    """Return the text that `defused` was called with, for any separator."""
    return _ADDED.sub("", text)


def seen_of(cell: str) -> str:
    """Return what people see of a head: its beginning, without what is invisible."""
    return " ".join(_UNSEEN.sub("", cell[:MAX_HEAD_LENGTH]).split())


def clean_heads(cells: Iterable[str]) -> list[str]:
    """Return what people see of heads, with numbers where they repeat or are empty."""
    heads: dict[str, None] = {}  # a set in order, since there may be 300 heads
    for number, cell in enumerate(cells, 1):
        seen = seen_of(cell) or f"Column {number}"
        names = chain([seen], (f"{seen} ({repeated})" for repeated in count(2)))
        heads[next(name for name in names if name not in heads)] = None
    return [*heads]


def is_separator(text: str) -> bool:
    return len(text) == 1 and text not in '"\r\n '


class NotReadable(RuleError):
    text = "{}."


class Fault(NamedTuple):
    """What is wrong with a line; the first line of the file is line 1."""

    line: int
    text: str

    def __str__(self) -> str:
        return f"Line {self.line}: {self.text}"


class Table:
    """The heads of a file, and its lines, which can be read once.

    To make one, and to read its lines, raises `NotReadable`.
    """

    def __init__(self, content: bytes, choices: Choices) -> None:
        self.encoding, codec = _encoding(content, choices.encoding)
        # Bytes that the encoding does not have become `\ufffd`, so that people see that
        # another one is right.
        self._text = io.TextIOWrapper(
            io.BytesIO(content), codec, errors="replace", newline=""
        )
        self.other_letters: list[str] = []  # lines that show which encoding is right
        if self.encoding in ENCODINGS:
            others = (line for line in self._pieces() if not line.isascii())
            self.other_letters = [x[:SHOWN_LENGTH] for x in islice(others, MAX_LINES)]
            self._text.seek(0)
        self._beginning = self._text.read(2 * SHOWN_LENGTH)
        self._text.seek(0)
        separators = DELIMITERS
        self._before = 0  # lines before the heads
        if separator := _SEPARATOR.match(self._text.readline()):
            self._before, separators = 1, separator[1] + DELIMITERS
        if is_separator(choices.separator or ""):
            separators = choices.separator or ""
        self.separator = self._best(filter(is_separator, dict.fromkeys(separators)))
        self._reader, cells = self._opened(self.separator)
        if not cells:
            raise NotReadable("The file is empty, or begins with many empty lines")
        if len(cells) > MAX_COLUMNS:
            raise self._refused(f"The file has more than {MAX_COLUMNS} columns")
        self._seen, self.heads = [*map(seen_of, cells)], clean_heads(cells)
        self.repeated = 0  # lines that are the heads again

    def lines(self, faults: list[Fault]) -> Iterator[tuple[int, list[str]]]:
        """Yield the number of each line below the heads, with its cells.

        Lines at fault go to `faults` instead.
        """
        lines, width, first = 0, len(self.heads), self._seen[0]
        while True:
            number = self._before + self._reader.line_num + 1
            try:
                cells = next(self._reader)
            except StopIteration:
                return
            except csv.Error as error:
                last = self._before + self._reader.line_num
                unread = f"; nothing from there to line {last} was read"
                faults.append(Fault(number, _csv_fault(error) + unread))
                return
            if not any(map(str.strip, cells)):
                continue
            if seen_of(cells[0]) == first and [*map(seen_of, cells)] == self._seen:
                self.repeated += 1
                continue
            if lines == timeouts.LIMITS.import_lines:
                raise self._refused(f"The file has more than {lines:,} animals")
            lines += 1
            if any(cells[width:]):
                fault = f"there are {len(cells)} cells, but {width} in the first line"
                faults.append(Fault(number, fault))
            else:
                yield number, cells + [""] * (width - len(cells))

    def _best(self, separators: Iterable[str]) -> str:
        """Return the separator with which most heads are known."""
        found: dict[str, tuple[int, int]] = {}
        faults: set[str] = set()
        for each in separators:
            _go_on()
            try:
                heads = clean_heads(self._opened(each)[1][:MAX_COLUMNS])
            except csv.Error as error:
                faults.add(_csv_fault(error))
            else:
                found[each] = sum(bool(guess(x, heads)) for x in HEADS), len(heads)
        # With a wrong separator, text seems to follow a quotation mark.
        if not found or (NOT_CLOSED in faults and not max(found.values())[0]):
            fault = NOT_CLOSED if NOT_CLOSED in faults else AFTER_QUOTE
            raise self._refused(f"Line {self._before + 1}: {fault}")
        return max(found, key=found.__getitem__)

    def _opened(self, separator: str) -> tuple[Any, list[str]]:
        """Return a reader of what follows the line with the heads, and its cells."""
        self._text.seek(0)
        for _ in range(self._before):
            self._text.readline()
        options: Any = {"strict": True, "skipinitialspace": True}
        reader = csv.reader(self._pieces(separator), delimiter=separator, **options)
        rows = islice(reader, timeouts.LIMITS.imported_rows)  # in which heads stand
        return reader, next((row for row in rows if any(map(str.strip, row))), [])

    def _pieces(self, separator: str = "\0") -> Iterator[str]:
        """Yield the file line by line, and let other requests run in between."""
        for piece in chain.from_iterable(in_parts(self._text)):
            if piece.count(separator) > MAX_CELLS:  # which would take long to parse
                raise self._refused(f"A line has more than {MAX_CELLS:,} cells")
            yield piece

    def _refused(self, fault: str) -> NotReadable:
        """Return the error for a file that is text, with its heads and first line."""
        lines = " / ".join(self._beginning.splitlines()[:2])
        return NotReadable(f"{fault}. It begins with: {lines}")


def in_parts(items: Iterable[Any]) -> Iterator[list[Any]]:
    """Yield the items in lists, and let other requests run in between."""
    for part in chunked(items, timeouts.LIMITS.imported_rows):
        yield part
        _go_on()


def _go_on() -> None:
    give_way()
    if deadline.get() < NEVER:  # of a request, which then has its whole time again
        deadline.set(clock.monotonic() + timeouts.LIMITS.stores_seconds)


def _encoding(content: bytes, chosen: str | None) -> tuple[str, str]:
    """Return the name of the encoding, and Python's name for it."""
    text = content.removeprefix(codecs.BOM_UTF8).lstrip()
    for beginning, part, kind, advice in OTHER_FORMATS:
        if re.match(beginning, text, re.DOTALL) and part in content:
            raise NotReadable(f"The file is {kind}. {advice}")
    marked = [name for mark, name in MARKS.items() if content.startswith(mark)]
    for codec in marked or ["utf-8"] * (chosen not in ENCODINGS):
        with suppress(UnicodeDecodeError):
            if "\0" in content.decode(codec):
                break
            return codec, codec
        if marked:
            raise NotReadable(
                f"The file begins as UTF-8 or UTF-16, but is neither. {_SAVED}"
            )
    if b"\0" in content:
        raise NotReadable("The file contains NUL, so it is no text")
    name = chosen if chosen in ENCODINGS else ENCODINGS[0]
    return name, WIDER.get(name, name)


def _csv_fault(error: csv.Error) -> str:
    return AFTER_QUOTE if "expected after" in str(error) else NOT_CLOSED
