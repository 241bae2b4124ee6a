"""How people search lists: by words, or by a number such as `#12`.

A search ignores case, accents, the width of letters, and which apostrophe was typed.
Each text that is searched is stored a second time in this folded form, and the search
looks for its words there. The folded form begins with a mark that says how it was made.
"""

import re
import unicodedata
from functools import reduce
from typing import NamedTuple, Self

from peewee import OP, SQL, ColumnBase, Expression, fn

from petstore.storage import db
from petstore.storage.lists import MAX_ID

# Of another folding, this is another character. Release 1.3.0 writes none, also where
# it corrects what has one. It is in no name, and separates words that are searched.
FOLDING = "\x1f"

_NUMBER = re.compile(r"\s*(#?)([0-9]{1,19})\s*")
_WIDE = (0x3000, *range(0xFF01, 0xFFEF))  # and narrow ones
_DECOMPOSED = ((each, unicodedata.decomposition(chr(each)).split()) for each in _WIDE)
# What keyboards write for an apostrophe, a quotation mark and a hyphen, and the usual
# characters for wide and narrow ones.
_TYPED = dict.fromkeys(map(ord, "\u2018\u2019\u201b\u02bb\u02bc\u2032\xb4"), "'")
_TYPED |= dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u2033"), '"')
_TYPED |= dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212"), "-")
_TYPED |= {each: chr(int(parts[1], 16)) for each, parts in _DECOMPOSED if parts}
# Letters that do not decompose, as people write them who do not have them.
_PLAIN = zip("đðɖɗøɔħıɨłŋŧƀɓƙƶǥɛə", "ddddoohiilntbbkzgee", strict=True)
_LETTERS = str.maketrans({"æ": "ae", "œ": "oe", "ĳ": "ij", "þ": "th", **dict(_PLAIN)})


def searchable(text: str) -> str:
    """Return a text as it is stored for searches."""
    return FOLDING + folded(text)


def is_outdated(*columns: ColumnBase) -> Expression:
    """Return the condition that one of the columns has another folding than this."""
    one = SQL("1")
    marks = (fn.SUBSTR(column, one, one) for column in columns)
    return reduce(Expression.__or__, (mark != FOLDING for mark in marks))


def folded(text: str) -> str:
    """Return a text without accents, in one case, in the letters that most people have.

    It has at most six bytes for each character: all of NFKD would make up to 18
    characters of one, which may be too long for an index.
    """
    if text.isascii():
        return text.lower()
    return _bare(text.translate(_TYPED)).translate(_LETTERS)


def _bare(text: str) -> str:
    """Return a text without accents, in one case, as release 1.3.0 folds it."""
    parts = unicodedata.normalize("NFD", text)
    bare = "".join(part for part in parts if not unicodedata.combining(part))
    return unicodedata.normalize("NFC", bare).casefold()


class SearchTerms(NamedTuple):
    """What a person searches for: the row with a number, or words in texts."""

    number: int | None
    words: tuple[set[str], ...]  # each by this folding and by the one before

    @classmethod
    def of(cls, text: str, *, needs_sign: bool = True) -> Self:
        """Read what a person has typed; with `needs_sign`, a number is like `#12`."""
        found = _NUMBER.fullmatch(text)
        if found and (found[1] or not needs_sign):
            return cls(min(int(found[2]), MAX_ID), ())
        words = ({folded(word), _bare(word)} - {""} for word in text.split())
        return cls(None, tuple(filter(None, words)))

    def search(self, column: ColumnBase) -> list[Expression]:
        """Return the condition that a searchable text has all words, if any."""
        has_word = [
            reduce(Expression.__or__, (db.position(column, form) > 0 for form in word))
            for word in self.words
        ]
        return [reduce(_and_flat, has_word)] if has_word else []


def _and_flat(one: Expression, other: Expression) -> Expression:
    # SQLite does not read a hundred parentheses within each other.
    return Expression(one, OP.AND, other, flat=True)
