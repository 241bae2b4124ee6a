"""Authentication: the bearer key of a request (specification section 5)."""

from typing import Any

from flask import current_app

from petstore.errors import ErrorResponse
from petstore.models import roles
from petstore.models.callers import Caller
from petstore.models.origins import is_one_of
from petstore.web.application import ApplicationRequest
from petstore.web.turns import take_turn_of


def identify(request: ApplicationRequest) -> None:
    """Find the caller: None without a valid key, which only `require_key` refuses.

    Raises a 503 if too many requests of the key are under way.
    """
    token = _bearer_token(request)
    caller = Caller.of(token) if token else None
    # At a project's own host, no other project's key is valid.
    if caller and request.state.host_project_id in (None, caller.project_id):
        request.state.caller = caller
        take_turn_of(caller.key_id)


def require_key(request: ApplicationRequest) -> None:
    """Raise 401 without a valid key, and 403 for one that may not do this."""
    caller = request.state.caller
    if not caller:
        is_sent = _bearer_token(request)
        raise ErrorResponse("invalid_api_key" if is_sent else "missing_api_key")
    if caller.role != roles.FULL:  # which may do everything, from everywhere
        _require_role(request, caller)
        _require_origin(request, caller)


def _require_role(request: ApplicationRequest, caller: Caller) -> None:
    """Raise 403 if the operation, where there is one, takes more than the key may."""
    if request.endpoint:
        operation: Any = current_app.view_functions[request.endpoint]
        roles.require(caller.role, operation.contract.takes)


def _require_origin(request: ApplicationRequest, caller: Caller) -> None:
    """Raise 403 for a page that may not use the key.

    A request without an origin is served: a script can send any, so that the limits of
    the key are what protects its project.
    """
    origins = caller.origins
    origin = request.environ.get("HTTP_ORIGIN")
    if origins is None or origin is None:
        return
    if not is_one_of(origin, origins):
        pages = ", ".join(origins.split())
        raise roles.KeyNotAllowed(f"This key may only be used by pages of {pages}.")


def _bearer_token(request: ApplicationRequest) -> str:
    header = request.environ.get("HTTP_AUTHORIZATION", "")
    scheme, _, token = header.partition(" ")
    return token.strip(" ") if scheme.lower() == "bearer" else ""
