"""Schemas that the specification names and that are not objects."""

from typing import Any

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from marshmallow.fields import Field

from petstore.schemas.fields import StrictSchema
from petstore.schemas.orders import OrderStatus
from petstore.schemas.paging import MAX_LIMIT
from petstore.schemas.pets import PetStatus

# Enumerations that several schemas share.
ENUMS = (PetStatus, OrderStatus)


def add_components(spec: APISpec, marshmallow: MarshmallowPlugin) -> None:
    """Add the lists and enumerations to the components of the description."""
    for enum in ENUMS:
        choices = list(enum.choices)
        spec.components.schema(enum.__name__, {"type": "string", "enum": choices})
    if marshmallow.converter:  # it is there as soon as `spec` is
        marshmallow.converter.add_attribute_function(_refer_to_enum)
    for schema in StrictSchema.__subclasses__():
        if schema.plural:
            item = _reference(schema.__name__.removesuffix("Schema"))
            many = {"type": "array", "items": item, "maxItems": MAX_LIMIT}
            spec.components.schema(schema.plural, many)


def list_of(schema: StrictSchema) -> dict[str, str]:
    """Return the reference to a list of what the schema dumps."""
    return _reference(schema.plural)


def _refer_to_enum(
    _converter: object, field: Field[Any], ret: dict[str, Any], **_: object
) -> dict[str, str]:
    if not isinstance(field, ENUMS):
        return {}
    del ret["type"], ret["enum"]
    return _reference(type(field).__name__)


def _reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}
