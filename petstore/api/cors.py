"""OPTIONS, and CORS for pages of other origins (Fetch standard, section 3.3)."""

from typing import Any

from flask import Response, current_app, request

from petstore.web.responses import no_content

EXPOSED_HEADERS = (
    "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, "
    "RateLimit, RateLimit-Policy, Retry-After, Link, Location, "
    "Deprecation, Sunset, Idempotent-Replayed, X-Request-ID"
)
ALLOWED_HEADERS = "Authorization, Content-Type, Idempotency-Key, X-Request-ID"
MAX_AGE_SECONDS = "7200"


def headers(origins: tuple[str, ...], environ: dict[str, Any]) -> list[tuple[str, str]]:
    """Let pages of these origins read a response; `*` stands for all."""
    if "*" in origins:
        return ALLOWED_TO_ALL
    origin = environ.get("HTTP_ORIGIN", "")
    return [("Vary", "Origin"), *(_allow(origin) if origin in origins else ())]


def _allow(origin: str) -> list[tuple[str, str]]:
    return [
        ("Access-Control-Allow-Origin", origin),
        ("Access-Control-Expose-Headers", EXPOSED_HEADERS),
    ]


ALLOWED_TO_ALL = _allow("*")


def answer_options() -> Response:
    """Answer OPTIONS or a preflight request, without a key and without counting."""
    if request.routing_exception:
        raise request.routing_exception
    methods = ", ".join(sorted(current_app.make_default_options_response().allow))
    response = no_content()
    response.headers["Allow"] = methods
    if "Access-Control-Request-Method" in request.headers:
        response.headers["Access-Control-Allow-Methods"] = methods
        response.headers["Access-Control-Allow-Headers"] = ALLOWED_HEADERS
        response.headers["Access-Control-Max-Age"] = MAX_AGE_SECONDS
    return response
