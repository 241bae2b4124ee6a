"""The 400 that names every member or parameter at fault."""

from petstore.errors import InvalidRequest

SHOWN_FAULTS = 20
SHOWN_NAME_LENGTH = 80


def invalid(faults: dict[str, list[str]]) -> InvalidRequest:
    """One line for all of them."""
    shown = [
        f"{_shown(name)}: {texts[0]}"
        for name, texts in list(faults.items())[:SHOWN_FAULTS]
    ]
    if len(faults) > SHOWN_FAULTS:
        shown.append(f"and {len(faults) - SHOWN_FAULTS} more")
    return InvalidRequest("; ".join(shown))


def _shown(name: str) -> str:
    # The sender's own names may be of any length and hold line breaks.
    short = name[:SHOWN_NAME_LENGTH]
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in short)
