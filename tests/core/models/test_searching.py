"""Texts are stored as searches have them."""

import unicodedata

from petstore.models.searching import folded


def test_no_name_becomes_too_long_for_an_index():
    letters = map(chr, [*range(0xD800), *range(0xE000, 0x110000)])
    longest = max(len(folded(letter).encode()) for letter in letters)
    assert longest <= 6 < len(unicodedata.normalize("NFKC", "\ufdfa").encode())
