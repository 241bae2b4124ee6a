"""How a file is read: what people have chosen, and a first guess at the rest."""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Self

import orjson
from marshmallow import EXCLUDE

from petstore.extensions.sheets.schemas import FilePetSchema

DELIMITERS = ",;\t|~"
FIELDS = FilePetSchema(unknown=EXCLUDE)
HEADS = [each.data_key or name for name, each in FIELDS.fields.items()]  # ours
NUMBERED = "Column {}"  # a column without a head
_TABLE = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
KINDS = [(b.encode("latin-1"), p.encode(), *x) for b, p, *x in _TABLE["kinds"]["files"]]
# The name that people know of each encoding, with Python's name and a description.
ENCODINGS: dict[str, tuple[str, str]] = _TABLE["encodings"]
WORDS = {ours: _TABLE["heads"].get(ours, ours.lower()).split() for ours in HEADS}
PARTS = {ours: {*each.split()} for ours, each in _TABLE["parts"].items()}
PARTS_OF_OTHERS = {*_TABLE["others"]["parts"].split()}
STATUS_WORDS: dict[str, str] = {
    word: ours for ours, each in _TABLE["statuses"].items() for word in each.split()
}
# The values by which a column is known that has another head, or none.
VALUES = {
    "status": {*STATUS_WORDS},
    "category": {*_TABLE["categories"]["usual"].split()},
}
# What shows that a line has heads, and what may stand in lines of animals, too.
KNOWN_HEADS = {*_TABLE["others"]["heads"].split()}.union(*WORDS.values())
OF_ANIMALS = {*_TABLE["others"]["names"].split()}.union(*VALUES.values())
# A byte order mark, a soft hyphen, and blanks of no width: nobody sees them.
_UNSEEN = re.compile("[\xad\u200b-\u200f\u2060\ufeff]")
_TOKEN = re.compile(r"[^\W\d_]+")
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LINES = re.compile(r"\s*([0-9]{1,9})(?:\s*[-\u2013]\s*([0-9]{1,9}))?\s*")


@dataclass(frozen=True)
class Choices:
    """What people say of a file that it does not say itself.

    A column is named by its head; "" stands for none. A value of None is guessed, and
    so is a column that the file does not have.
    """

    LEFT_OUT = "skip"  # what becomes of lines without a name, or without a category
    OUT = "out"  # what a status may mean beside ours: its lines are left out
    NO_HEADS = "none"
    READ = "read"  # what may become of texts such as `&amp;`

    columns: dict[str, str] = field(default_factory=dict)  # by our heads
    statuses: dict[str, str] = field(default_factory=dict)  # of others: ours, or OUT
    # LEFT_OUT, or a head; if it is empty, a line without a name is at fault.
    without_name: str = ""
    separator: str | None = None
    encoding: str | None = None  # of the lines that are neither UTF-8 nor UTF-16
    heads: str | None = None  # the number of their line, or NO_HEADS
    values: dict[str, str] = field(default_factory=dict)  # of all lines, by our heads
    without_category: str = ""  # LEFT_OUT, or a category; if empty, it is at fault
    leave_out: str = ""  # numbers of lines, such as `32, 40-45`
    entities: str = ""  # READ, or another text to keep them
    again: bool = False  # whether animals that are here already are added again
    first_line: int = 1  # that is shown

    @classmethod
    def of(cls, text: str) -> Self:
        """Return the choices that were written as JSON, by another release perhaps."""
        known = {each.name for each in fields(cls)}
        return cls(**{x: y for x, y in orjson.loads(text).items() if x in known})


NO_CHOICES = Choices()


def seen_of(text: str) -> str:
    """Return what people see of a text, with single blanks."""
    return " ".join(_UNSEEN.sub("", text).split())


def folded(text: str) -> str:
    """Return a head, or a value of another system, as it is compared with words."""
    return "".join(_TOKEN.findall(_without_accents(text)))


def guess_columns(
    heads: Sequence[str], rows: Sequence[Sequence[str]] = ()
) -> dict[str, str]:
    """Return which head most likely means which of ours, or "".

    It is judged by the heads, then by their parts, and then by the values of some rows.
    """
    known = {folded(head): head for head in reversed(heads)}
    found = {
        ours: next((known[word] for word in WORDS[ours] if word in known), "")
        for ours in HEADS
    }
    for ours, parts in PARTS.items():
        if not found[ours]:
            likely = [head for head in heads if _has_part(head, parts)]
            found[ours] = next((x for x in likely if x not in found.values()), "")
    cells = [{folded(x) for x in column} - {""} for column in zip(*rows, strict=False)]
    values = dict(zip(heads, cells, strict=False))
    for ours, usual in VALUES.items():
        if not found[ours]:
            likely = [head for head, each in values.items() if each and each <= usual]
            found[ours] = next((x for x in likely if x not in found.values()), "")
    return found


def count_heads(cells: Iterable[str]) -> int:
    """Return how much a row looks like heads: two for each word, one for each part."""
    parts = set[str]().union(*PARTS.values())
    likely = (cell for cell in cells if folded(cell) not in OF_ANIMALS)
    return sum(2 if folded(x) in KNOWN_HEADS else _has_part(x, parts) for x in likely)


def _has_part(head: str, parts: set[str]) -> bool:
    tokens = {*_TOKEN.findall(_without_accents(_CAPITAL.sub(" ", head)))}
    return bool(tokens & parts) and not tokens & PARTS_OF_OTHERS


def _without_accents(text: str) -> str:
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(part for part in parts if not unicodedata.combining(part))


def ranges_of(text: str) -> list[range] | None:
    """Return the numbers of lines that a person has typed; None if they are none."""
    found = [_LINES.fullmatch(part) for part in re.split("[,;]", text) if part.strip()]
    ends = [(each[1], each[2] or each[1]) for each in found if each]
    if len(ends) < len(found):
        return None
    return [range(int(first), int(last) + 1) for first, last in ends]
