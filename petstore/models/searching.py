"""How people search lists: by words, or by a number such as `#12`.

Case and accents make no difference: beside each text that is searched stands the same
without them, and the words are looked for in that.
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
    # Not NFKD, by which one character becomes up to eighteen: an index has a limit.
    parts = unicodedata.normalize("NFD", text)
    bare = "".join(part for part in parts if not unicodedata.combining(part))
    return unicodedata.normalize("NFC", bare).casefold()


class SearchTerms(NamedTuple):
    """What somebody looks for: the row with a number, or words in the texts of rows."""

    number: int | None
    words: tuple[str, ...]

    @classmethod
    def of(cls, text: str, *, needs_sign: bool = True) -> Self:
        """Return what a person has typed; a number may need the sign before it."""
        found = _NUMBER.fullmatch(text)
        if found and (found[1] or not needs_sign):
            return cls(min(int(found[2]), MAX_ID), ())
        return cls(None, tuple(dict.fromkeys(searchable(text).split())))

    def search(self, folded: ColumnBase) -> list[Expression]:
        """Return the condition that a folded text has all words, if there are any."""
        has_word = [db.position(folded, word) > 0 for word in self.words]
        return [reduce(_and_flat, has_word)] if has_word else []


def _and_flat(one: Expression, other: Expression) -> Expression:
    # SQLite does not read a hundred parentheses within each other.
    return Expression(one, OP.AND, other, flat=True)
