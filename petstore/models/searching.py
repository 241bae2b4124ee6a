"""How people search lists: by words, or by a number such as `#12`.

A search ignores case and accents. Each text that is searched is stored a second time
without them, and the search looks for its words there.
"""

import re
import unicodedata
from functools import reduce
from typing import NamedTuple, Self

from peewee import OP, ColumnBase, Expression

from petstore.storage import db
from petstore.storage.lists import MAX_ID

_NUMBER = re.compile(r"\s*(#?)([0-9]{1,19})\s*")


def searchable(text: str) -> str:
    """Return a text without accents, in one case."""
    if text.isascii():
        return text.lower()
    # NFKD would make up to 18 characters of one, which may be too long for an index.
    parts = unicodedata.normalize("NFD", text)
    bare = "".join(part for part in parts if not unicodedata.combining(part))
    return unicodedata.normalize("NFC", bare).casefold()


class SearchTerms(NamedTuple):
    """What a person searches for: the row with a number, or words in texts."""

    number: int | None
    words: tuple[str, ...]

    @classmethod
    def of(cls, text: str, *, needs_sign: bool = True) -> Self:
        """Read what a person has typed; with `needs_sign`, a number is like `#12`."""
        found = _NUMBER.fullmatch(text)
        if found and (found[1] or not needs_sign):
            return cls(min(int(found[2]), MAX_ID), ())
        return cls(None, tuple(dict.fromkeys(searchable(text).split())))

    def search(self, folded: ColumnBase) -> list[Expression]:
        """Return the condition that a searchable text has all words, if any."""
        has_word = [db.position(folded, word) > 0 for word in self.words]
        return [reduce(_and_flat, has_word)] if has_word else []


def _and_flat(one: Expression, other: Expression) -> Expression:
    # SQLite does not read a hundred parentheses within each other.
    return Expression(one, OP.AND, other, flat=True)
