"""Headers of responses and requests, as the interface description names them."""

from typing import Any

from petstore.schemas.fields import INT64_MAX


def _integer(description: str, example: int) -> dict[str, Any]:
    schema = {"type": "integer", "format": "int64", "minimum": 0, "maximum": INT64_MAX}
    return {"description": description, "schema": schema, "example": example}


def _text(description: str, example: str) -> dict[str, Any]:
    schema = {"type": "string", "maxLength": 8192, "pattern": "^[ -~]+$"}
    return {"description": description, "schema": schema, "example": example}


ON_EVERY_RESPONSE = {
    "X-RateLimit-Limit": _integer("The limit that applies.", 60),
    "X-RateLimit-Remaining": _integer("Requests left in the current window.", 59),
    "X-RateLimit-Reset": _integer("Unix time at which it resets.", 1795240380),
    "RateLimit-Policy": _text(
        "Both windows of the quota (draft-ietf-httpapi-ratelimit-headers-11).",
        '"minute";q=60;w=60, "day";q=1000;w=86400',
    ),
    "RateLimit": _text(
        "Requests left in both windows, and seconds until each resets.",
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
        "The next page, while more follow (RFC 8288).",
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
IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    # No example: a tool that fills it in would send the same key with every request.
    "description": "A new key of your own for each request that you may have to retry.",
    "schema": {
        "type": "string",
        "minLength": 1,
        "maxLength": 255,
        "pattern": "^[!-~]+$",
    },
}


def references(*names: str) -> dict[str, Any]:
    """Return the headers of a response, with those of every response."""
    return {
        name: {"$ref": f"#/components/headers/{name}"}
        for name in (*ON_EVERY_RESPONSE, *names)
    }
