"""How a file is read: what people have chosen, and a first guess at the rest."""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from marshmallow import EXCLUDE

from petstore.models.categories import comparable
from petstore.schemas.fields import Name, UrlInteger
from petstore.schemas.pets import NewPetSchema

DELIMITERS = ",;\t|~"
MAX_STATUS_LENGTH = 60
NUMBERED = "Column {}"  # a column without a head
_TABLE = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
KINDS = [(b.encode("latin-1"), p.encode(), *x) for b, p, *x in _TABLE["kinds"]["files"]]
# The name that people know of each encoding, with Python's name and a description.
ENCODINGS: dict[str, tuple[str, str]] = _TABLE["encodings"]
WORDS, PARTS, STATUS_WORDS, OTHERS = (
    {name: words.split() for name, words in _TABLE[table].items()}
    for table in ("heads", "parts", "statuses", "others")
)
MEANINGS = {word: ours for ours, words in STATUS_WORDS.items() for word in words}
# The values by which a column is known that has another head, or none.
VALUES = {"status": {*MEANINGS}, "category": {*OTHERS["categories"]}}
# What shows that a line has heads, and what may stand in lines of animals, too.
KNOWN_HEADS = {*OTHERS["heads"]}.union(*WORDS.values())
OF_ANIMALS = {*OTHERS["names"]}.union(*VALUES.values())


class FilePetSchema(NewPetSchema):
    """An animal in a file, whose cells are texts."""

    id = UrlInteger()
    category_id = UrlInteger(data_key="categoryId", required=True)
    category = Name(required=True)


FIELDS = FilePetSchema(unknown=EXCLUDE)
# A byte order mark, a soft hyphen, and blanks of no width: nobody sees them.
_UNSEEN = re.compile("[\xad\u200b-\u200f\u2060\ufeff]")
_TOKEN = re.compile(r"[^\W\d_]+")
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LINES = re.compile("([0-9]{1,9})(?:\\s*[-\u2013]\\s*([0-9]{1,9}))?")

# What people say of a file: its columns, `OPTIONS`, and behind `STATUS` what a status
# of another system means. What is missing is guessed.
Choices = Mapping[str, str]
NONE: Choices = {}
# A column is chosen by its head, as "" if the file has none, or as one value for all
# lines, behind this.
EACH = "="
STATUS = "status."
LEFT_OUT = "skip"  # what becomes of lines without a name, or without a category
AS_NAMES = "keep"  # the same, but `NA`, `NULL` and `None` are names
COLUMNS: dict[str, str] = _TABLE["columns"]


class Option(NamedTuple):
    """A choice, as the page about a file and the command show it."""

    label: str
    form: str
    pattern: str


OPTIONS = {
    name: Option(*(text.replace("ENCODINGS", "|".join(ENCODINGS)) for text in texts))
    for name, texts in _TABLE["options"].items()
}


def read_choices(fields: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return what fields choose; of one name, the last field counts that does."""
    chosen = {}
    for name, typed in fields:
        kind, _, column = name.partition(".")
        option = OPTIONS.get("column" if name in COLUMNS else kind)
        text = typed.strip(" ")
        if not (option and re.fullmatch(option.pattern, text, re.DOTALL)):
            continue
        if kind == "all" and column in COLUMNS:
            chosen[column] = EACH + text
        elif name in COLUMNS or name in OPTIONS or kind == "status":
            chosen[name] = text
    return chosen


def seen_of(text: str) -> str:
    """Return what people see of a text, with single blanks."""
    return " ".join(_UNSEEN.sub("", text).split())


def folded(text: str) -> str:
    """Return a head, or a value of another system, as it is compared with words."""
    return "".join(_TOKEN.findall(_without_accents(text)))


def folded_status(text: str) -> str:
    """Return a status of another system as it is compared."""
    return comparable(seen_of(text[:MAX_STATUS_LENGTH]))


def guess_columns(columns: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Return which of some heads most likely means which of ours.

    It is judged by the heads, then by their parts, and then by the values below.
    """
    known = {folded(head): head for head in reversed([*columns])}
    cells = {x: {folded(cell) for cell in each} - {""} for x, each in columns.items()}
    likely = [(x, [known[word] for word in WORDS[x] if word in known]) for x in WORDS]
    likely += [(x, [y for y in columns if _has_part(y, PARTS[x])]) for x in PARTS]
    likely += [
        (x, [y for y in columns if set() < cells[y] <= VALUES[x]]) for x in VALUES
    ]
    found: dict[str, str] = {}
    for ours, heads in likely:
        free = [head for head in heads if head not in found.values()]
        if free:
            found.setdefault(ours, free[0])
    return found


def count_heads(cells: Iterable[str]) -> int:
    """Return how much a row looks like heads: two for each word, one for each part."""
    parts = set[str]().union(*PARTS.values())
    likely = (cell for cell in cells if folded(cell) not in OF_ANIMALS)
    return sum(2 if folded(x) in KNOWN_HEADS else _has_part(x, parts) for x in likely)


def _has_part(head: str, parts: Iterable[str]) -> bool:
    tokens = {*_TOKEN.findall(_without_accents(_CAPITAL.sub(" ", head)))}
    return not (tokens.isdisjoint(parts) or tokens.intersection(OTHERS["parts"]))


def _without_accents(text: str) -> str:
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(part for part in parts if not unicodedata.combining(part))


def ranges_of(text: str) -> list[range]:
    """Return the numbers of lines that a person has typed."""
    return [range(int(x), int(y or x) + 1) for x, y in _LINES.findall(text)]
