"""Authentication: the bearer key of a request (specification section 5)."""

from flask import Request

from petstore.errors import ErrorResponse
from petstore.hosting import host_routing
from petstore.models.callers import Caller
from petstore.models.credentials import PREFIX_LENGTH
from petstore.models.last_used import last_used
from petstore.storage import wait_as
from petstore.web.application import current_g


def identify(request: Request) -> None:
    """Set `g.caller`: None without a valid key, which only `require_key` refuses."""
    g = current_g()
    token = _bearer_token(request)
    wait_as(token[:PREFIX_LENGTH], request.remote_addr)
    caller = host_routing.scoped_to_host(Caller.of(token) if token else None)
    g.caller = caller
    if caller:
        last_used.note(caller)


def require_key(request: Request) -> None:
    """Raise 401 without a valid key."""
    if not current_g().caller:
        is_sent = _bearer_token(request)
        raise ErrorResponse("invalid_api_key" if is_sent else "missing_api_key")


def _bearer_token(request: Request) -> str:
    header = request.environ.get("HTTP_AUTHORIZATION", "")
    scheme, _, token = header.partition(" ")
    return token.strip(" ") if scheme.lower() == "bearer" else ""
