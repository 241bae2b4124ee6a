"""What people are told about who did something, as far as that is kept."""

from petstore.events import OPERATOR, SYSTEM
from petstore.models.activity import Event
from petstore.models.keys import Key


def told_actor(project_id: int, actor: str | None) -> str:
    """Return in words who acted: a key with its label, or somebody else.

    `actor` is the prefix of a key, with its label at that time if that is kept, or what
    `petstore.events` has for others.
    """
    who, _, label = (actor or "").partition(" ")
    if who in ("", OPERATOR, SYSTEM):
        return f"the {who}" if who else "somebody"
    label = label or Key.labels(project_id, [who]).get(who, "the key")
    return f"{label} ({who})"


def told_removal(project_id: int, kind: str, item_id: int) -> str:
    """Return a sentence on who removed an animal, order or category, and how.

    It is empty if that is not kept, as of what programs do.
    """
    event = Event.find_removal(project_id, kind, item_id)
    if event is None:
        return ""
    return f"{event.title} This was done by {told_actor(project_id, event.actor)}."
