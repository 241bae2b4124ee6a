"""Loads what clients send, a body, a query or a form, by the fields of a schema."""

from collections.abc import Mapping, Sequence
from typing import Any

from marshmallow import ValidationError, missing

from petstore.schemas.fields import StrictSchema


def load(
    schema: StrictSchema, members: Mapping[str, Any], repeated: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the arguments that the fields of a schema make of members.

    `Schema.load` can do much that no schema here needs, and takes three times as long.
    Raises `ValidationError` with the messages of every member at fault, also of those
    that are unknown or repeated.
    """
    loaded: dict[str, Any] = {}
    faults: dict[str, Any] = {}
    members = dict(members)
    for argument, each in schema.load_fields.items():
        name = each.data_key or argument
        try:
            value = each.deserialize(members.pop(name, missing))
        except ValidationError as error:
            faults[name] = error.messages
        else:
            if value is not missing:
                loaded[argument] = value
    faults |= {name: [schema.error_messages["unknown"]] for name in members}
    faults |= {name: ["must not be repeated"] for name in repeated}
    if not loaded and not faults and schema.needs_member:
        names = [each.data_key or name for name, each in schema.load_fields.items()]
        faults["body"] = [f"must have {' or '.join(names)}"]
    if faults:
        raise ValidationError(faults)
    return loaded
