"""OPTIONS, and what pages of other origins may do (Fetch standard, section 3.3)."""

from collections.abc import Callable

from flask import Response, current_app, request

from petstore.responses import put

EXPOSED = (
    "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, "
    "RateLimit, RateLimit-Policy, Retry-After, Link, Location, "
    "Deprecation, Sunset, Idempotent-Replayed, X-Request-ID"
)
ACCEPTED = "Authorization, Content-Type, Idempotency-Key, X-Request-ID"
PREFLIGHT_KEPT_SECONDS = "7200"


def origin_rule(origins: tuple[str, ...]) -> Callable[[Response], None]:
    """A function that lets pages of the origins read an answer; `*` stands for all."""

    def allow_all(response: Response) -> None:
        _allow(response, "*")

    def allow_some(response: Response) -> None:
        response.vary.add("Origin")
        origin = request.headers.get("Origin")
        if origin in origins:
            _allow(response, origin)

    return allow_all if "*" in origins else allow_some


def answer_options() -> Response:
    """What the path takes, without a key and without being counted."""
    if request.routing_exception:
        raise request.routing_exception
    allowed = ", ".join(sorted(current_app.make_default_options_response().allow))
    response = Response(status=204, headers={"Allow": allowed})
    if "Access-Control-Request-Method" in request.headers:
        response.headers["Access-Control-Allow-Methods"] = allowed
        response.headers["Access-Control-Allow-Headers"] = ACCEPTED
        response.headers["Access-Control-Max-Age"] = PREFLIGHT_KEPT_SECONDS
    return response


def _allow(response: Response, origin: str) -> None:
    allowed = ("Access-Control-Allow-Origin", origin)
    put(response, (allowed, ("Access-Control-Expose-Headers", EXPOSED)))
