"""Authentication: the bearer key of a request (specification section 5)."""

from flask import Request

from petstore.api.last_used import last_used
from petstore.domains import hosts
from petstore.errors import InvalidKey, MissingKey
from petstore.models.callers import Caller
from petstore.routing import current_g

CHALLENGE = 'Bearer realm="petstore"'


def identify(request: Request) -> None:
    """Set `g.caller`, to None without a valid key; `require_key` judges that."""
    g = current_g()
    token = _bearer_token(request)
    caller = hosts.unless_foreign(Caller.of(token) if token else None)
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
            {"WWW-Authenticate": f'{CHALLENGE}, error="invalid_token"'},
        )
    raise MissingKey(
        "An API key is needed: send the header Authorization: Bearer <API_KEY>.",
        {"WWW-Authenticate": CHALLENGE},
    )


def _bearer_token(request: Request) -> str:
    header = request.environ.get("HTTP_AUTHORIZATION", "")
    scheme, _, token = header.partition(" ")
    return token.strip(" ") if scheme.lower() == "bearer" else ""
