"""The roles of keys: what each allows, and what is said to a key that may not."""

from petstore.models import RuleError

READ, WRITE, FULL = ROLES = ("read", "write", "full")  # each allows what is before it

MAY = {
    READ: "This key may only read.",
    WRITE: "This key may only read and write animals, categories and orders.",
}
TAKES = {
    WRITE: "This takes a key that may write.",
    FULL: "This takes a full key.",
}


class KeyNotAllowed(RuleError):
    """The role of the key does not allow what was asked for."""

    code = "key_not_allowed"


def is_allowed(role: str, takes: str) -> bool:
    """Return whether a key of a role may do what takes that role."""
    return ROLES.index(role) >= ROLES.index(takes)


def is_for_web_page(role: str, per_minute: int | None) -> bool:
    """Return whether a key may stand in a web page: it only reads, and has limits."""
    return role == READ and per_minute is not None


def require(role: str, takes: str) -> None:
    """Raise `KeyNotAllowed` for a key whose role is less than what it takes."""
    if not is_allowed(role, takes):
        raise KeyNotAllowed(refusal(role, takes))


def refusal(role: str, takes: str) -> str:
    """Return what a key of a role may do, and what would be needed."""
    return f"{MAY[role]} {TAKES[takes]}"
