"""What operations share in the interface description: headers, failures, lists."""

from collections.abc import Container
from typing import Any

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from marshmallow import fields

from petstore.errors import ERRORS
from petstore.schemas import ChangeSchema, ResourceSchema, StrictSchema
from petstore.schemas.fields import INT64_MAX, Integer
from petstore.schemas.orders import OrderStatus
from petstore.schemas.paging import MAX_LIMIT
from petstore.schemas.pets import PetStatus

INT64 = {"type": "integer", "format": "int64", "minimum": 0, "maximum": INT64_MAX}


def _integer(description: str, example: int) -> dict[str, Any]:
    return {"description": description, "schema": INT64, "example": example}


def _text(description: str, example: str) -> dict[str, Any]:
    schema = {"type": "string", "maxLength": 8192, "pattern": "^[ -~]+$"}
    return {"description": description, "schema": schema, "example": example}


ON_EVERY_RESPONSE = {
    "X-RateLimit-Limit": _integer("The limit that applies.", 60),
    "X-RateLimit-Remaining": _integer("Requests left in the current window.", 59),
    "X-RateLimit-Reset": _integer("Unix time at which it resets.", 1795240380),
    "RateLimit-Policy": _text(
        "All windows of the quota (draft-ietf-httpapi-ratelimit-headers-11).",
        '"minute";q=60;w=60, "day";q=1000;w=86400',
    ),
    "RateLimit": _text(
        "Requests left in all windows, and seconds until each resets.",
        '"minute";r=59;t=25, "day";r=999;t=65245',
    ),
    "X-Request-ID": _text(
        "The id of the request in the log; a valid one in the request is kept.",
        "5aaa09a2f8784ea3b0fc8df968690986",
    ),
    "Access-Control-Allow-Origin": _text(
        "The origin whose pages may read the response.", "*"
    ),
}
HEADERS = ON_EVERY_RESPONSE | {
    "Retry-After": _integer("Seconds after which a retry is served.", 25),
    "WWW-Authenticate": _text("How to authenticate.", 'Bearer realm="petstore"'),
    "Location": _text("Where the new resource is found.", "/v1/pets/42"),
    "Link": _text(
        "Of a list the next page, while more follow; of a deprecated operation its "
        "successor and its documentation (RFC 8288).",
        '<https://api.example.org/v1/pets?after=42>; rel="next"',
    ),
    "Idempotent-Replayed": _text("`true` if an earlier response is repeated.", "true"),
    "Deprecation": _text(
        "Since when the operation is deprecated (RFC 9745).", "@1764892800"
    ),
    "Sunset": _text(
        "When the operation will be removed (RFC 8594).",
        "Thu, 05 Dec 2030 00:00:00 GMT",
    ),
}
DESCRIPTIONS = {
    400: "The body, a parameter or a header cannot be accepted as it is.",
    401: "The API key is missing or not valid.",
    403: "The API key may not do this.",
    404: "The resource does not exist.",
    409: "It conflicts with the present state, or with a request that is running.",
    410: "The operation was removed.",
    413: "The body is too large.",
    415: "The body is not application/json.",
    421: "No project answers at the host of the request.",
    422: "The Idempotency-Key was used with another body.",
    429: "The rate limit is exceeded, or the key is banned for a while.",
    500: "Something failed on the side of the service.",
    503: "The service cannot answer at the moment.",
}
FAILURE_HEADERS = {
    401: ("WWW-Authenticate",),
    429: ("Retry-After",),
    503: ("Retry-After",),
}
# Each operation has conflicts of its own; the other failures are described once.
CONFLICT = 409
# Enumerations that several schemas share.
ENUMS = (PetStatus, OrderStatus)


class ErrorSchema(StrictSchema):
    """Error: what went wrong, for a machine and for a person."""

    # No enumeration: a client that was generated from it would break at a later code.
    # A union of it and a string is no string to some of them.
    code = fields.String(
        required=True,
        metadata={
            "description": "Which error it is, for programs; others may be added.",
            "examples": list(ERRORS),
            "maxLength": 64,
            "pattern": "^[a-z_]+$",
        },
    )
    message = fields.String(
        required=True,
        metadata={
            "description": "What is wrong and what helps, for people.",
            "maxLength": 10_000,
            "pattern": "^.+$",
        },
    )
    status = Integer(
        400, 599, required=True, metadata={"description": "The HTTP status code."}
    )


def add_components(spec: APISpec, marshmallow: MarshmallowPlugin) -> None:
    """Add everything that operations refer to by name."""
    spec.components.schema("Error", schema=ErrorSchema)
    for enum in ENUMS:
        choices = list(enum.choices)
        spec.components.schema(enum.__name__, {"type": "string", "enum": choices})
    if marshmallow.converter:  # it is there as soon as `spec` is
        marshmallow.converter.add_attribute_function(_refer_to_enum)
    for change in ChangeSchema.__subclasses__():
        spec.components.schema(_name(change), {"minProperties": 1}, schema=change)
    for resource in ResourceSchema.__subclasses__():
        item = _reference(_name(resource))
        many = {"type": "array", "items": item, "maxItems": MAX_LIMIT}
        spec.components.schema(resource.plural, many)
    for name, header in HEADERS.items():
        spec.components.header(name, header)
    for status in DESCRIPTIONS:
        if status != CONFLICT:
            spec.components.response(f"Failure{status}", failure(status, ERRORS))


def references(*names: str) -> dict[str, Any]:
    """Return the headers of a response, with those of every response."""
    return {
        name: {"$ref": f"#/components/headers/{name}"}
        for name in (*ON_EVERY_RESPONSE, *names)
    }


def list_of(schema: ResourceSchema) -> dict[str, str]:
    """Return the reference to a list of what the schema dumps."""
    return _reference(schema.plural)


def failure(status: int, codes: Container[str], *headers: str) -> dict[str, Any]:
    """Describe a response with the codes that belong to the status."""
    bodies = [
        {"code": code, "message": error.example_message, "status": status}
        for code, error in ERRORS.items()
        if error.status == status and code in codes
    ]
    examples = {body["code"]: {"value": body} for body in bodies}
    return {
        "description": DESCRIPTIONS[status],
        "headers": references(*FAILURE_HEADERS.get(status, headers)),
        "content": {
            "application/json": {"schema": "ErrorSchema", "examples": examples}
        },
    }


def _refer_to_enum(
    _converter: object, field: fields.Field[Any], ret: dict[str, Any], **_: object
) -> dict[str, str]:
    if not isinstance(field, ENUMS):
        return {}
    del ret["type"], ret["enum"]
    return _reference(type(field).__name__)


def _name(schema: type[StrictSchema]) -> str:
    return schema.__name__.removesuffix("Schema")


def _reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}
