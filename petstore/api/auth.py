"""Authentication: the bearer key of a request (specification section 5)."""

from flask import Request

from petstore.api.last_used import last_used
from petstore.domains import host_routing
from petstore.errors import INVALID_TOKEN, NO_KEY, InvalidKey, MissingKey
from petstore.models.callers import Caller
from petstore.web.routing import current_g


def identify(request: Request) -> None:
    """Set `g.caller`: None without a valid key, which only `require_key` refuses."""
    g = current_g()
    token = _bearer_token(request)
    caller = host_routing.scoped_to_host(Caller.of(token) if token else None)
    g.caller = caller
    if caller:
        last_used.note(caller)


def require_key(request: Request) -> None:
    """Raise 401 without a valid key (RFC 6750 section 3)."""
    if current_g().caller:
        return
    if _bearer_token(request):
        raise InvalidKey(
            "This API key is not valid here: it is mistyped, revoked or expired, "
            "or the host is not its project's.",
            INVALID_TOKEN,
        )
    raise MissingKey(
        "An API key is needed: send the header Authorization: Bearer <API_KEY>.",
        NO_KEY,
    )


def _bearer_token(request: Request) -> str:
    header = request.environ.get("HTTP_AUTHORIZATION", "")
    scheme, _, token = header.partition(" ")
    return token.strip(" ") if scheme.lower() == "bearer" else ""
