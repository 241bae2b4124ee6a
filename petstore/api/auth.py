"""Who is calling: the bearer key of a request (specification section 5)."""

from flask import Request, g

from petstore.api.last_used import last_used
from petstore.errors import InvalidKey, MissingKey
from petstore.models.callers import Caller

CHALLENGE = 'Bearer realm="petstore"'


def identify(request: Request) -> None:
    """Set `g.caller`, to None where no valid key was sent, without judging it yet."""
    token = _bearer_token(request)
    caller = Caller.of(token) if token else None
    state = g._get_current_object()
    if caller and state.get("host_project_id") not in (None, caller.project_id):
        caller = None  # the host of the request serves another project
    state.caller = caller
    if caller:
        last_used.note(caller)


def require_key(request: Request) -> None:
    """Refuse a stranger with 401 (RFC 6750 section 3)."""
    if g.caller:
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
    sent = request.environ.get("HTTP_AUTHORIZATION", "")
    scheme, _, token = sent.partition(" ")
    return token.strip(" ") if scheme.lower() == "bearer" else ""
