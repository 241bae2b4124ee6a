"""What a name for people may be: of a project, a key, an animal or a category."""

import re

MAX_NAME_LENGTH = 200

# JSON Schema, Python and RE2 (of Go and Rust) read these escapes in the same way. The
# other blanks stand for themselves, since they have no such escape.
_CONTROL = r"\x00-\x1f\x7f-\x9f"
_BLANK = " \\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
# Blanks, a first character that is not blank, then anything but control characters: a
# single pass.
NAME_PATTERN = f"[{_BLANK}]*[^{_BLANK}{_CONTROL}][^{_CONTROL}]*"
_NAME = re.compile(NAME_PATTERN)
NAME_ERROR = "must not be blank and must not contain control characters"
LENGTH_ERROR = f"must have 1 to {MAX_NAME_LENGTH} characters"


def name_error(name: str) -> str | None:
    """Return what is wrong with a name; None if nothing is."""
    if not 1 <= len(name) <= MAX_NAME_LENGTH:
        return LENGTH_ERROR
    return None if _NAME.fullmatch(name) else NAME_ERROR
