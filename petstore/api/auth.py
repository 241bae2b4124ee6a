"""Who is calling: the bearer key of a request (specification section 5)."""

from flask import Flask, g, request

from petstore.api.last_used import last_used
from petstore.api.paths import is_api_request
from petstore.errors import InvalidKey, MissingKey
from petstore.models.keys import Caller

CHALLENGE = 'Bearer realm="petstore"'


def init_app(app: Flask) -> None:
    """Look at the key of every request under /v1, without judging it yet."""
    app.before_request(_identify)


def require_key() -> None:
    """Refuse a stranger with 401 (RFC 6750 section 3)."""
    if g.caller:
        return
    if _bearer_token():
        raise InvalidKey(
            "This API key is not valid: it is mistyped, revoked or expired.",
            {"WWW-Authenticate": f'{CHALLENGE}, error="invalid_token"'},
        )
    raise MissingKey(
        "An API key is needed: send the header Authorization: Bearer <API_KEY>.",
        {"WWW-Authenticate": CHALLENGE},
    )


def _identify() -> None:
    if not is_api_request():
        return
    token = _bearer_token()
    g.caller = Caller.of(token) if token else None
    if g.caller:
        last_used.note(g.caller)


def _bearer_token() -> str:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip(" ") if scheme.lower() == "bearer" else ""
