"""Lines and cells of files, as spreadsheets write them: CSV of several kinds."""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain, count, islice, zip_longest
from statistics import median_low
from typing import Any, NamedTuple, TypeVar

from peewee import chunked

from petstore import clock, timeouts
from petstore.concurrency import give_way
from petstore.extensions.sheets import choices as sheets
from petstore.extensions.sheets.choices import ENCODINGS, Choices, seen_of
from petstore.models import RuleError
from petstore.storage import NEVER, deadline

NOT_CLOSED = "a quotation mark is not closed"
MAX_COLUMNS = 300
MAX_CELLS = 100_000  # of a line, as far as separators tell
MAX_HEAD_LENGTH = 100
MAX_LINES = 5  # that are shown because of their other letters
SHOWN_LENGTH = 200  # of each line that is shown
FIRST_LINES = 60  # among which the heads are looked for
HEADS_SEEM = 2  # of `count_heads`
LONG_ROW = 20  # lines of a row after which somebody should look at it
MAX_NOT_CLOSED = 20  # marks after which a file is read on
CTRL_Z = b"\x1a"  # with which some programs end a file
# It ends the text that is read, and no file has it: a row in which it stands with other
# text has a quotation mark that is not closed.
END = "\0"
UTF_8 = "utf-8-sig"
ESCAPED = "surrogateescape"  # the bytes that are not UTF-8
# A column that nobody reads may hold a picture.
csv.field_size_limit(timeouts.LIMITS.import_bytes)
NO_TEXT = "The file contains NUL, so it is no text, or damaged. Export it again as CSV"
_SEPARATOR = re.compile(r'"?sep=([^"\r\n\0 ])"?[,;\t]*(?:\r\n?|\n|$)', re.IGNORECASE)

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


def clean_heads(cells: Iterable[str]) -> list[str]:
    """Return what people see of heads, with numbers where they repeat or are empty."""
    heads: dict[str, None] = {}  # a set in order, since there may be 300 heads
    for number, cell in enumerate(cells, 1):
        seen = seen_of(cell[:MAX_HEAD_LENGTH]) or sheets.NUMBERED.format(number)
        names = chain([seen], (f"{seen} ({repeated})" for repeated in count(2)))
        heads[next(name for name in names if name not in heads)] = None
    return [*heads]


Item = TypeVar("Item")


class NotReadable(RuleError):
    text = "{}."


class TooLarge(NotReadable):
    text = "The file has more than {} MiB. Send only the columns that are needed (in a "
    text += "spreadsheet, delete the others, such as pictures and notes), or send the "
    text += "file in parts, each with the line of the heads."


def require_small(content: bytes) -> bytes:
    """Return the content of a file; raises `TooLarge`."""
    if len(content) > timeouts.LIMITS.import_bytes:
        raise TooLarge(timeouts.LIMITS.import_bytes // 1024**2)
    return content


class Fault(NamedTuple):
    """What is wrong with a line; the first line of the file is line 1."""

    line: int
    text: str

    def __str__(self) -> str:
        return f"Line {self.line}: {self.text}"


class Row(NamedTuple):
    """The cells of an animal, or of heads, with the lines in which they stand."""

    first: int
    last: int
    cells: list[str]

    @property
    def is_closed(self) -> bool:
        return not self.cells[-1].endswith(END)


class Table:
    """The heads of a file, and its lines, read as somebody chooses.

    To make one, and to read its lines, raises `NotReadable`.
    """

    def __init__(self, content: bytes, choices: Choices) -> None:
        self.faults: list[Fault] = []
        self.left_out: Counter[str] = Counter()  # lines, by the reason
        self.long: list[Row] = []  # those that begin and end far from each other
        content = content.rstrip(CTRL_Z).removeprefix(codecs.BOM_UTF16_LE)
        self._content = content.removeprefix(codecs.BOM_UTF16_BE)
        # If `is_mixed`, few lines have this encoding, "" if nobody has chosen it, and
        # the others are UTF-8.
        encoding = _encoding(self._content, choices.get("encoding", ""))
        self.encoding, self._codec, self.is_mixed = encoding
        self.is_guess = self.is_mixed or self.encoding in ENCODINGS
        self.other_letters = [*islice(self._other_letters(), MAX_LINES)]
        beginning = [*islice(self._lines(), FIRST_LINES)]
        self.first_lines = [line.strip("\r\n")[:SHOWN_LENGTH] for line in beginning]
        if not any(map(str.strip, beginning)):
            raise NotReadable("The file is empty, or begins with many empty lines")
        self._first, separators = 1, sheets.DELIMITERS
        if separator := _SEPARATOR.match(beginning[0]):
            self._first, separators = 2, separator[1] + sheets.DELIMITERS
        separators = choices.get("separator", separators)
        self.separator, rows = self._best(beginning, separators)
        self.heads_line = 0  # if there are none
        cells = self._find_heads(choices.get("heads"), rows)
        if len(cells) > MAX_COLUMNS:
            raise self._refused(f"The file has more than {MAX_COLUMNS} columns")
        self._seen, self.heads = [*map(_seen_head, cells)], clean_heads(cells)
        below = [row.cells for row in rows if row.first > self.heads_line]
        columns = zip_longest(*below, fillvalue="")
        self.values = {head: _values(next(columns, ())) for head in self.heads}
        self._ranges = sheets.ranges_of(choices.get("leave_out", ""))

    @property
    def choices(self) -> dict[str, str]:
        """How it is read; what has to be chosen is missing."""
        heads = "" if self.is_open else str(self.heads_line or "none")
        encoding = self.encoding if self.is_guess else ""
        read = {"separator": self.separator, "encoding": encoding, "heads": heads}
        return {name: text for name, text in read.items() if text}

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the number of each line below the heads, with its cells."""
        width = len(self.heads)
        below = islice(self._closed(), bool(self.heads_line), None)
        for found, row in enumerate(filter(self._is_of_animal, below)):
            if found == timeouts.LIMITS.import_lines:
                raise self._refused(f"The file has more than {found:,} animals")
            if row.last - row.first >= LONG_ROW:
                self.long.append(row._replace(cells=[]))
            if any(map(str.strip, row.cells[width:])):
                fault = f"there are {len(row.cells)} cells, but {width} columns"
                self.faults.append(Fault(row.first, fault))
            else:
                yield row.first, row.cells + [""] * (width - len(row.cells))

    def _is_of_animal(self, row: Row) -> bool:
        """Return whether a row is read; count it if it is left out."""
        is_heads = self.heads_line and _seen_head(row.cells[0]) == self._seen[0]
        if is_heads and [*map(_seen_head, row.cells)] == self._seen:
            self.left_out["because they repeat the heads"] += 1
        elif any(row.first in each for each in self._ranges):
            self.left_out["by their numbers"] += 1
        else:
            return True
        return False

    def _closed(self) -> Iterator[Row]:
        """Yield the rows; read on behind a line with a mark that is not closed."""
        first = last = self._first
        for _ in range(MAX_NOT_CLOSED):
            for row in self._rows(self._lines(first), self.separator, first):
                if not row.is_closed:
                    break
                yield row
            else:
                return
            first, last = row.first + 1, row.last - 1
            if self._is_of_animal(row):
                self.faults.append(Fault(row.first, NOT_CLOSED))
        unread = f"as in lines before, so that no line up to {last} was read"
        self.faults.append(Fault(first, f"{NOT_CLOSED}, {unread}"))

    def _best(self, beginning: list[str], separators: str) -> tuple[str, list[Row]]:
        """Return the separator with which most heads are known, and the first rows."""
        found: dict[tuple[int, int], tuple[str, list[Row]]] = {}
        is_closed = True
        for each in dict.fromkeys(separators):
            lines = giving_way(beginning[self._first - 1 :])
            rows = [*self._rows(lines, each, self._first)]
            is_closed &= all(row.is_closed for row in rows[:1])
            rows = [row for row in rows if row.is_closed]
            known = max(map(_count_heads, giving_way(rows)), default=0)
            width = median_low(len(row.cells) for row in rows) if rows else 0
            found.setdefault((known * (known >= HEADS_SEEM), width), (each, rows))
        known, _ = best = max(found)
        # With a wrong separator, a mark that is not closed stands within a cell.
        if not (found[best][1] and (is_closed or known)):
            raise self._refused(f"Line {self._first}: {NOT_CLOSED}")
        return found[best]

    def _find_heads(self, chosen: str | None, rows: list[Row]) -> list[str]:
        """Return the cells of the heads, which are empty if there are none.

        If a line is not chosen, it is the first of those that look most like heads.
        """
        best = max(rows, key=_count_heads)
        self.is_open = not chosen and _count_heads(best) < HEADS_SEEM
        if self.is_open or chosen == "none":
            cells = (enumerate(row.cells, 1) for row in rows)
            return [""] * max(n for n, cell in chain(*cells) if cell.strip())
        first = max(int(chosen or best.first), self._first)
        row = next(self._rows(self._lines(first), self.separator, first), None)
        if row is None or not row.is_closed:
            raise self._refused(f"Line {first} has no heads")
        self._first = self.heads_line = row.first
        return row.cells

    def _lines(self, first: int = 1) -> Iterator[str]:
        """Yield the lines of the file, from one on; others run in between.

        What an encoding does not have becomes `\ufffd`, so that people see it.
        """
        has_others = self.is_mixed and self.encoding
        codec, errors = (UTF_8, ESCAPED) if has_others else (self._codec, "replace")
        file = io.BytesIO(self._content)
        text = io.TextIOWrapper(file, codec, errors=errors, newline="")
        lines = giving_way(map(self._other_line, text) if has_others else text)
        return islice(lines, first - 1, None)

    def _other_line(self, line: str) -> str:
        content = line.encode(errors=ESCAPED)
        return content.decode("utf-8" if _is_utf_8(content) else self._codec, "replace")

    def _rows(self, lines: Iterator[str], separator: str, first: int) -> Iterator[Row]:
        """Yield the rows that are not empty, the last of which may not be closed."""
        lines = (self._checked(line, separator) for line in lines)
        texts = chain(lines, [END])
        reader = csv.reader(texts, delimiter=separator, skipinitialspace=True)
        begins = first
        for cells in reader:
            ends = first + reader.line_num - 1
            if cells != [END] and any(map(str.strip, cells)):
                yield Row(begins, ends, cells)
            begins = ends + 1

    def _checked(self, line: str, separator: str) -> str:
        if line.count(separator) > MAX_CELLS:  # which would take long to parse
            raise self._refused(f"A line has more than {MAX_CELLS:,} cells")
        return line

    def _other_letters(self) -> Iterator[str]:
        """Yield the lines that show whether the encoding is right."""
        for line in self._lines() if self.is_guess else ():
            if "\ufffd" in line if self.is_mixed else not line.isascii():
                yield line.strip()[:SHOWN_LENGTH]

    def _refused(self, fault: str) -> NotReadable:
        """Return the error for a file that is text, with its first lines."""
        lines = " / ".join(self.first_lines[:2])
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


def giving_way(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items, and let other requests run after some milliseconds."""
    until = clock.monotonic() + timeouts.LIMITS.part_seconds
    for item in items:
        yield item
        if clock.monotonic() >= until:
            _go_on()
            until = clock.monotonic() + timeouts.LIMITS.part_seconds


def _encoding(content: bytes, chosen: str) -> tuple[str, str, bool]:
    """Return how bytes are read, as `Table` has it: a name, a codec, and `is_mixed`."""
    text = content.removeprefix(codecs.BOM_UTF8).lstrip()
    for beginning, part, kind, advice in sheets.KINDS:
        if re.match(beginning, text, re.DOTALL) and part in content:
            raise NotReadable(f"The file is {kind}. {advice}")
    if b"\0" in content:
        for codec in ("utf-16-le", "utf-16-be"):
            with suppress(UnicodeDecodeError):
                text_16 = content.decode(codec)
                if "\0" not in text_16 and re.search("[,;\t\r\n]", text_16):
                    return "UTF-16", codec, False
        raise NotReadable(NO_TEXT)
    if _is_utf_8(content):
        return "UTF-8", UTF_8, False
    name = {each.lower(): each for each in ENCODINGS}.get(chosen.lower(), "")
    lines = [x for x in giving_way(io.BytesIO(content)) if not x.isascii()]
    right = sum(map(_is_utf_8, giving_way(lines)))
    is_mixed = 2 * right > len(lines) or content.startswith(codecs.BOM_UTF8)
    name = name or ("" if is_mixed else next(iter(ENCODINGS)))
    return name, ENCODINGS[name][0] if name else UTF_8, is_mixed


def _is_utf_8(content: bytes) -> bool:
    return content.decode(errors="ignore").encode() == content


def _count_heads(row: Row) -> int:
    cells = row.cells[:MAX_COLUMNS]
    return sheets.count_heads(each[:MAX_HEAD_LENGTH] for each in cells)


def _seen_head(cell: str) -> str:
    return seen_of(cell[:MAX_HEAD_LENGTH])


def _values(cells: Iterable[str]) -> list[str]:
    """Return the values of a column, in the first lines."""
    return [
        *dict.fromkeys(x[:MAX_HEAD_LENGTH] for cell in cells if (x := cell.strip()))
    ]
