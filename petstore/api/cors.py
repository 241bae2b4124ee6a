"""OPTIONS, and what pages of other origins may do (Fetch standard, section 3.3)."""

from flask import Flask, Response, current_app, request

from petstore.api.paths import is_api_request
from petstore.settings import Settings

EXPOSED = (
    "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, "
    "RateLimit, RateLimit-Policy, Retry-After, Link, Location, "
    "Deprecation, Sunset, Idempotent-Replayed, X-Request-ID"
)
ACCEPTED = "Authorization, Content-Type, Idempotency-Key, X-Request-ID"
PREFLIGHT_KEPT_SECONDS = "7200"


def init_app(app: Flask, settings: Settings) -> None:
    """Answer OPTIONS before any key is asked for, and let pages read the answers."""
    origins = settings.cors_origins

    @app.after_request
    def allow_origin(response: Response) -> Response:
        if not is_api_request():
            return response
        allowed = "*"
        if "*" not in origins:
            response.vary.add("Origin")
            allowed = request.headers.get("Origin")
        if allowed in origins:
            response.headers["Access-Control-Allow-Origin"] = allowed
            response.headers["Access-Control-Expose-Headers"] = EXPOSED
        return response

    app.before_request(_answer_options)


def _answer_options() -> Response | None:
    if request.method != "OPTIONS" or not is_api_request():
        return None
    if request.routing_exception:
        raise request.routing_exception
    allowed = ", ".join(sorted(current_app.make_default_options_response().allow))
    response = Response(status=204, headers={"Allow": allowed})
    if "Access-Control-Request-Method" in request.headers:
        response.headers["Access-Control-Allow-Methods"] = allowed
        response.headers["Access-Control-Allow-Headers"] = ACCEPTED
        response.headers["Access-Control-Max-Age"] = PREFLIGHT_KEPT_SECONDS
    return response
