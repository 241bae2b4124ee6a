"""Failures of operations: each status with its codes, and a message of each code."""

from typing import Any

from marshmallow import fields

from petstore.errors import ERRORS
from petstore.openapi.headers import references
from petstore.schemas.fields import Choice, Integer, StrictSchema

DESCRIPTIONS = {
    400: "The body, a parameter or a header cannot be accepted as it is.",
    401: "The API key is missing or not valid.",
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
HEADERS = {
    401: ("WWW-Authenticate",),
    409: ("Retry-After", "Idempotent-Replayed"),
    429: ("Retry-After",),
    503: ("Retry-After",),
}


class ErrorSchema(StrictSchema):
    """Error: what went wrong, for a machine and for a person."""

    code = Choice(
        tuple(ERRORS),
        required=True,
        metadata={"description": "For machines."},
    )
    message = fields.String(
        required=True,
        metadata={"description": "For people.", "maxLength": 10_000, "pattern": "^.+$"},
    )
    status = Integer(
        400, 599, required=True, metadata={"description": "The HTTP status code."}
    )


def responses() -> dict[int, dict[str, Any]]:
    """Return a response for each status, for the components of the description."""
    return {status: _response(status) for status in DESCRIPTIONS}


def _response(status: int) -> dict[str, Any]:
    examples = {
        code: {
            "value": {"code": code, "message": error.example_message, "status": status}
        }
        for code, error in ERRORS.items()
        if error.status == status
    }
    return {
        "description": DESCRIPTIONS[status],
        "headers": references(*HEADERS.get(status, ())),
        "content": {
            "application/json": {"schema": "ErrorSchema", "examples": examples}
        },
    }
