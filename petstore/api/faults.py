"""The 400 that names every member or parameter at fault."""

from petstore.errors import InvalidRequest

SHOWN_FAULTS = 20
SHOWN_NAME_LENGTH = 80


def invalid(faults: dict[str, list[str]]) -> InvalidRequest:
    """One line for all of them; the sender's own names are cut to a bearable length."""
    shown = [
        f"{str(name)[:SHOWN_NAME_LENGTH]}: {texts[0]}"
        for name, texts in list(faults.items())[:SHOWN_FAULTS]
    ]
    if len(faults) > SHOWN_FAULTS:
        shown.append(f"and {len(faults) - SHOWN_FAULTS} more")
    return InvalidRequest("; ".join(shown))
