"""What people are told about who did something, as far as that is kept."""

from petstore.events import OPERATOR, SYSTEM
from petstore.models.activity import Event
from petstore.models.keys import Key


def actor_text(project_id: int, actor: str | None) -> str:
    """Return in words who acted: a key with its label, or somebody else.

    `actor` is the prefix of a key, with its label at that time if that is kept, or what
    `petstore.events` has for others.
    """
    who, _, label = (actor or "").partition(" ")
    if who in ("", OPERATOR, SYSTEM):
        return f"the {who}" if who else "somebody"
    label = label or Key.labels(project_id, [who]).get(who, "the key")
    return f"{label} ({who})"


def removal_text(project_id: int, removal: Event) -> str:
    """Return in a sentence what was removed, as the notice said then, and by whom."""
    return f"{removal.name} This was done by {actor_text(project_id, removal.actor)}."
