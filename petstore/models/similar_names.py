"""Names that are much like others, as `Hund` is like `Hunde`."""

import re
from collections.abc import Iterable

from petstore.models.searching import searchable

_ENDING = re.compile("(?:en|es|er|e|n|s)$")
# Names with so many letters are alike even if one letter differs, or is missing.
_LONG = 5


def find_similar(names: Iterable[str], others: Iterable[str]) -> dict[str, str]:
    """Return the names that are much like one of the others, each with that one."""
    known = [(_plain(other), other) for other in others]
    found = ((name, _first(_plain(name), known)) for name in names)
    return {name: other for name, other in found if other}


def _first(text: str, known: list[tuple[str, str]]) -> str | None:
    stem = _ENDING.sub("", text)
    for other, name in known:
        if _ENDING.sub("", other) == stem or _is_letter_apart(text, other):
            return name
    return None


def _plain(name: str) -> str:
    """Return a name without case, accents and blanks."""
    return "".join(searchable(name).split())


def _is_letter_apart(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if len(short) < _LONG or len(long) > len(short) + 1:
        return False
    place = next((n for n, x in enumerate(short) if x != long[n]), len(short))
    return long[place + 1 :] in (short[place:], short[place + 1 :])
