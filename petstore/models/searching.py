"""Texts as searches have them, with each write stored a second time in this form.

A search ignores case, accents, the width of letters, and which apostrophe was typed.
The folded form begins with a mark, which says how it was made, and which separates two
such texts.
"""

import unicodedata

# Of another folding, this is another character. It is in no name.
FOLDING = "\x1f"

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


def folded(text: str) -> str:
    """Return a text without accents, in one case, in the letters that most people have.

    It has at most six bytes for each character: all of NFKD would make up to 18
    characters of one, which may be too long for an index.
    """
    if text.isascii():
        return text.lower()
    parts = unicodedata.normalize("NFD", text.translate(_TYPED))
    bare = "".join(part for part in parts if not unicodedata.combining(part))
    return unicodedata.normalize("NFC", bare).casefold().translate(_LETTERS)
