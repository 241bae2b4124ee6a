"""How people search lists: by words, in any order and case, or by a number."""

import re
from collections.abc import Iterable
from typing import NamedTuple, Self

from peewee import ColumnBase

from petstore.storage.lists import MAX_ID, Search

_NUMBER = re.compile(r"\s*#([0-9]{1,19})\s*")


class Wanted(NamedTuple):
    """What somebody looks for: the row with a number, or words in the texts of rows."""

    number: int | None
    words: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Self:
        """Return what a person has typed; `#12` is a number."""
        if found := _NUMBER.fullmatch(text):
            return cls(min(int(found[1]), MAX_ID - 1), ())
        return cls(None, tuple(dict.fromkeys(text.casefold().split())))

    def search_in(self, text: ColumnBase) -> Search | None:
        """Return the search for the words in a text of each row, if there are any."""
        return Search(text, self._find_lines) if self.words else None

    @property
    def bounds(self) -> dict[str, int]:
        """The bounds of the ids that come into question, for `by_id`."""
        if self.number is None:
            return {}
        return {"lowest": self.number, "below": self.number + 1}

    def _find_lines(self, text: str) -> list[int]:
        """Return the numbers of the lines that contain all words, whatever their case.

        Python finds them: SQLite knows the case of ASCII letters alone, and PostgreSQL
        that of the letters of its language.
        """
        lines = text.casefold().split("\n")
        found: Iterable[int] = range(len(lines))
        for word in self.words:
            found = [number for number in found if word in lines[number]]
        return list(found)
