"""Numbers and secrets in settings, checked."""

from collections.abc import Callable

MIN_SECRET_LENGTH = 16


def whole_number(smallest: int, greatest: int) -> Callable[[str], int]:
    """Return a function that reads a number in a range; it raises ValueError."""

    def parse(text: str) -> int:
        is_number = text.isascii() and text.isdecimal() and len(text) < 10
        if not (is_number and smallest <= int(text) <= greatest):
            raise ValueError(
                f"must be a whole number from {smallest} to {greatest}, not {text!r}"
            )
        return int(text)

    return parse


def secret(text: str) -> str:
    """Return a secret; raises ValueError."""
    if len(text) < MIN_SECRET_LENGTH:
        raise ValueError(f"must have at least {MIN_SECRET_LENGTH} characters")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("must be UTF-8")
    return text
