"""Schemas that the specification names and that are not objects."""

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

LISTS: dict[type[Schema], str] = {
    PetSchema: "Pets",
    OrderSchema: "Orders",
    CategorySchema: "Categories",
}


def add_components(spec: APISpec, marshmallow: MarshmallowPlugin) -> None:
    """Add the lists and PetStatus to the components of the description."""
    spec.components.schema("PetStatus", {"type": "string", "enum": list(STATUSES)})
    if marshmallow.converter:  # it is there as soon as `spec` is
        marshmallow.converter.add_attribute_function(_refer_to_status)
    for schema, name in LISTS.items():
        item = _reference(schema.__name__.removesuffix("Schema"))
        spec.components.schema(
            name, {"type": "array", "items": item, "maxItems": MAX_LIMIT}
        )


def list_of(schema: Schema) -> dict[str, str]:
    """Return the reference to a list of what the schema dumps."""
    return _reference(LISTS[type(schema)])


def _refer_to_status(
    _converter: object, field: Field[Any], ret: dict[str, Any], **_: object
) -> dict[str, str]:
    if not isinstance(field, PetStatus):
        return {}
    del ret["type"], ret["enum"]
    return _reference("PetStatus")


def _reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}
