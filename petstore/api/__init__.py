"""/v1: the operations for clients, behind a key and a quota.

The hooks below run for each request in their order: who is calling (specification
section 5), is it within the quota (section 8), and may the key do this. OPTIONS and
CORS follow the Fetch standard, section 3.3.
"""

from typing import Any

from flask import Flask, Response, current_app, request

from petstore.api import categories, orders, pets
from petstore.api.contract import ACCEPT_PATCH
from petstore.errors import ErrorResponse
from petstore.events import actor
from petstore.models.callers import Caller
from petstore.models.grants import FULL, KeyNotAllowed, is_one_of, require_role
from petstore.quotas.limiter import STRANGERS, Limiter
from petstore.quotas.strategy import Decision
from petstore.settings import Settings
from petstore.web.application import (
    ApplicationRequest,
    Header,
    current_request,
    no_content,
)
from petstore.web.limiter import limiter_of
from petstore.web.turns import acquire_turn_of, turns_of

EXPOSED_HEADERS = (
    "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, "
    "RateLimit, RateLimit-Policy, Retry-After, Link, Location, "
    "Deprecation, Sunset, Idempotent-Replayed, X-Request-ID"
)
# `*` stands for all other headers that pages send, but never for Authorization.
ALLOWED_HEADERS = "Authorization, Content-Type, Idempotency-Key, X-Request-ID, *"
MAX_AGE_SECONDS = "7200"


def init_app(app: Flask, settings: Settings) -> None:
    """Identify the caller, count the request, and only then answer it.

    The hooks belong to the application: those of a blueprint do not run for a path or a
    method that the blueprint does not know.
    """
    limiter = limiter_of(app)

    def headers_of_refusal(environ: dict[str, Any]) -> list[Header]:
        figures = limiter.last_known(None, environ.get("REMOTE_ADDR"))
        return figures.headers() + _cors_headers(settings.cors_origins, environ)

    turns_of(app).headers = headers_of_refusal

    @app.before_request
    def admit() -> Response | None:
        request = current_request()
        if not request.state.is_api:
            return None
        if request.method == "OPTIONS":
            return _answer_options()
        _identify(request)
        _count(limiter, request)
        # It comes after counting, so that guesses of keys are counted too.
        _require_key(request)
        return None

    @app.after_request
    def add_api_headers(response: Response) -> Response:
        request = current_request()
        state = request.state
        if state.is_api:
            state.headers += _cors_headers(settings.cors_origins, request.environ)
            if not state.decision:
                state.headers += _uncounted_figures(limiter, request).headers()
        return response

    for bp in (pets.bp, orders.bp, categories.bp):
        app.register_blueprint(bp)


def _identify(request: ApplicationRequest) -> None:
    """Find whose key the request has, if it has a valid one.

    Raises a 503 if too many requests of the key are under way.
    """
    token = _bearer_token(request)
    caller = Caller.find_by_key(token) if token else None
    # At a project's own host, no other project's key is valid.
    if caller and request.state.host_project_id in (None, caller.project_id):
        request.state.caller = caller
        actor.set(caller.prefix)
        acquire_turn_of(caller.key_id)


def _require_key(request: ApplicationRequest) -> None:
    """Raise 401 without a valid key, and 403 for one that may not do this.

    Raises 403 for all keys of a suspended project, and for everybody at its hosts.
    """
    caller, state = request.state.caller, request.state
    if caller.suspended_ms if caller else state.is_host_suspended:
        raise ErrorResponse("project_suspended")
    if not caller:
        is_sent = _bearer_token(request)
        raise ErrorResponse("invalid_api_key" if is_sent else "missing_api_key")
    if caller.role != FULL:  # which may do everything, from everywhere
        _require_role(request, caller)
        _require_origin(request, caller)
    request.state.project_id = caller.project_id


def _require_role(request: ApplicationRequest, caller: Caller) -> None:
    """Raise 403 if the operation requires more than the role of the key."""
    if request.endpoint:
        operation: Any = current_app.view_functions[request.endpoint]
        require_role(caller.role, operation.contract.required_role)


def _require_origin(request: ApplicationRequest, caller: Caller) -> None:
    """Raise 403 for a page that may not use the key.

    A request without an origin is served, since a script can send any origin: the
    limits of the key protect its project.
    """
    origins, origin = caller.origins, request.environ.get("HTTP_ORIGIN")
    if origins and origin is not None and not is_one_of(origin, origins):
        pages = ", ".join(origins.split())
        raise KeyNotAllowed(f"This key may only be used by pages of {pages}.")


def _bearer_token(request: ApplicationRequest) -> str:
    header = request.environ.get("HTTP_AUTHORIZATION", "")
    scheme, _, token = header.partition(" ")
    return token.strip(" ") if scheme.lower() == "bearer" else ""


def _count(limiter: Limiter, request: ApplicationRequest) -> None:
    state = request.state
    state.decision = decision = limiter.count(state.caller, request.remote_addr)
    state.headers += decision.headers()
    if not decision.is_granted:
        raise _refusal(decision, state.caller)


def _uncounted_figures(limiter: Limiter, request: ApplicationRequest) -> Decision:
    """Return the figures for a response to a request that was not counted.

    No store is asked if too many requests are under way, or if a store is away.
    """
    state = request.state
    if state.caller or state.error_code == "service_unavailable":
        return limiter.last_known(state.caller, request.remote_addr)
    return limiter.peek(request.remote_addr)


def _refusal(decision: Decision, caller: Caller | None) -> ErrorResponse:
    seconds = decision.retry_after_seconds
    wait = "1 second" if seconds == 1 else f"{seconds:,} seconds"
    headers = {"Retry-After": str(seconds)}
    if decision.is_banned:
        return ErrorResponse("api_key_banned", wait, headers=headers)
    if caller:
        reason = decision.reason(caller.plan)
    else:
        is_address = decision.windows[0].limit == STRANGERS.per_minute
        network = "address" if is_address else "IPv6 /48"
        allowance = decision.tightest.allowance
        reason = f"Without a valid API key, an {network} may send {allowance}"
    return ErrorResponse("rate_limit_exceeded", reason, wait, headers=headers)


def _cors_headers(origins: tuple[str, ...], environ: dict[str, Any]) -> list[Header]:
    """Let pages of these origins read a response; `*` stands for all.

    No cache may give a page a response to a request that had no origin.
    """
    origin, headers = environ.get("HTTP_ORIGIN"), [("Vary", "Origin")]
    allowed = "*" if "*" in origins else origin
    if origin is not None and allowed in origins:
        headers.append(("Access-Control-Allow-Origin", allowed))
        headers.append(("Access-Control-Expose-Headers", EXPOSED_HEADERS))
    return headers


def _answer_options() -> Response:
    """Answer OPTIONS or a preflight request, without a key and without counting."""
    if request.routing_exception:
        raise request.routing_exception
    methods = ", ".join(sorted(current_app.make_default_options_response().allow))
    response = no_content()
    response.headers["Allow"] = methods
    if "PATCH" in methods:
        response.headers.update(ACCEPT_PATCH)
    sent = request.headers
    if "Origin" in sent and "Access-Control-Request-Method" in sent:
        response.headers["Access-Control-Allow-Methods"] = methods
        response.headers["Access-Control-Allow-Headers"] = ALLOWED_HEADERS
        response.headers["Access-Control-Max-Age"] = MAX_AGE_SECONDS
    return response
