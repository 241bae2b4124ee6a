"""Schemas that have a name in the specification and are no objects."""

from typing import Any

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from marshmallow import Schema
from marshmallow.fields import Field

from petstore.models.pets import STATUSES
from petstore.schemas.categories import CategorySchema
from petstore.schemas.orders import OrderSchema
from petstore.schemas.paging import MAX_LIMIT
from petstore.schemas.pets import PetSchema, PetStatus

LISTS = {PetSchema: "Pets", OrderSchema: "Orders", CategorySchema: "Categories"}


def describe(spec: APISpec, marshmallow: MarshmallowPlugin) -> None:
    """Put the lists and PetStatus among the components."""
    spec.components.schema("PetStatus", {"type": "string", "enum": list(STATUSES)})
    marshmallow.converter.add_attribute_function(_refer_to_status)
    for schema, name in LISTS.items():
        one = _reference(schema.__name__.removesuffix("Schema"))
        spec.components.schema(
            name, {"type": "array", "items": one, "maxItems": MAX_LIMIT}
        )


def list_of(schema: Schema) -> dict[str, str]:
    """The reference to a list of what the schema dumps."""
    return _reference(LISTS[type(schema)])


def _refer_to_status(
    _converter: object, field: Field, ret: dict[str, Any], **_: object
) -> dict[str, str]:
    if not isinstance(field, PetStatus):
        return {}
    del ret["type"], ret["enum"]
    return _reference("PetStatus")


def _reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}
