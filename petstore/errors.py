"""Every error that a client can see: its status and its code.

Nothing here knows Flask; `petstore.web.error_handlers` turns these into responses.
"""

from collections.abc import Mapping
from typing import Self

MAX_BODY_BYTES = 64 * 1024

# Every code, with the status of its responses.
STATUSES = {
    "invalid_request": 400,
    "missing_api_key": 401,
    "invalid_api_key": 401,
    "not_found": 404,
    "method_not_allowed": 405,
    "pet_not_available": 409,
    "order_closed": 409,
    "idempotency_key_in_use": 409,
    "operation_removed": 410,
    "body_too_large": 413,
    "unsupported_media_type": 415,
    "unknown_host": 421,
    "idempotency_key_reused": 422,
    "rate_limit_exceeded": 429,
    "api_key_banned": 429,
    "headers_too_large": 431,
    "internal_error": 500,
    "service_unavailable": 503,
}
# A message that the service really sends, by code, for the documentation.
EXAMPLES = {
    "invalid_request": "name: must have 1 to 200 characters; categoryId: is required",
    "missing_api_key": (
        "An API key is needed: send the header Authorization: Bearer <API_KEY>."
    ),
    "invalid_api_key": (
        "This API key is not valid here: it is mistyped, revoked or expired, or "
        "the host is not its project's."
    ),
    "not_found": "There is no animal 42.",
    "method_not_allowed": (
        "This path does not take that method; the Allow header lists those it takes."
    ),
    "pet_not_available": "The animal 42 is not available.",
    "order_closed": "The order 7 is closed.",
    "idempotency_key_in_use": (
        "The first request with this Idempotency-Key is still running."
    ),
    "operation_removed": "This operation was removed on 2030-12-05; use /v1/pets.",
    "body_too_large": (
        f"The body is too large; it must have at most {MAX_BODY_BYTES:,} bytes."
    ),
    "unsupported_media_type": (
        "The body must be JSON, sent with Content-Type: application/json."
    ),
    "unknown_host": "No project of this service answers at this host.",
    "idempotency_key_reused": (
        "This Idempotency-Key was used with another body; take a new key."
    ),
    "rate_limit_exceeded": "Free allows 60 requests a minute; wait 50 seconds.",
    "api_key_banned": (
        "This API key is banned for a while, for not waiting after 429; "
        "wait 300 seconds."
    ),
    "headers_too_large": "The headers are too large.",
    "internal_error": (
        "The server has failed; report 5aaa09a2f8784ea3b0fc8df968690986 to its "
        "operators."
    ),
    "service_unavailable": (
        "The database does not answer at the moment; please try again."
    ),
}
# The codes of errors that Flask or Werkzeug raise, by status.
CODES = {
    STATUSES[code]: code
    for code in (
        "invalid_request",
        "not_found",
        "method_not_allowed",
        "body_too_large",
        "internal_error",
        "service_unavailable",
    )
}
# What these errors say instead of Werkzeug's text, by status.
MESSAGES = {
    404: (
        "There is no such path. There are /v1/pets, /v1/store/orders and "
        "/v1/categories, with the ids of what they list; see /docs."
    ),
    405: EXAMPLES["method_not_allowed"],
    413: EXAMPLES["body_too_large"],
}

# The headers of a 401 (RFC 6750 section 3), without a key and with an invalid one.
NO_KEY = {"WWW-Authenticate": 'Bearer realm="petstore"'}
INVALID_TOKEN = {"WWW-Authenticate": 'Bearer realm="petstore", error="invalid_token"'}

SHOWN_MEMBERS = 20
SHOWN_NAME_LENGTH = 80

# The key in the WSGI environ under which a server puts the error of a request that it
# could not read.
UNREADABLE = "petstore.unreadable"


class ErrorResponse(Exception):
    """An error as a client sees it, raised instead of returning a response."""

    code: str

    def __init__(self, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.headers = headers or {}

    @property
    def status(self) -> int:
        """The status of the response."""
        return STATUSES[self.code]


class InvalidRequest(ErrorResponse):
    """The body, a parameter or a header cannot be accepted as it is."""

    code = "invalid_request"

    @classmethod
    def of_members(cls, errors: Mapping[str, list[str]]) -> Self:
        """Return one error that names every member or parameter at fault.

        The first message of each is shown, and 20 members at most.
        """
        shown = [
            f"{_printable(name)}: {messages[0]}"
            for name, messages in list(errors.items())[:SHOWN_MEMBERS]
        ]
        if len(errors) > SHOWN_MEMBERS:
            shown.append(f"and {len(errors) - SHOWN_MEMBERS} more")
        return cls("; ".join(shown))


class MissingKey(ErrorResponse):
    """No API key was sent."""

    code = "missing_api_key"


class InvalidKey(ErrorResponse):
    """A key was sent that is unknown, mistyped, revoked or expired."""

    code = "invalid_api_key"


class OperationRemoved(ErrorResponse):
    """The removal date of the operation has passed (specification section 9)."""

    code = "operation_removed"


class UnsupportedMediaType(ErrorResponse):
    """The body is not application/json."""

    code = "unsupported_media_type"


class UnknownHost(ErrorResponse):
    """No project answers at the host of the request."""

    code = "unknown_host"


class IdempotencyKeyReused(ErrorResponse):
    """The key was used before, with another body."""

    code = "idempotency_key_reused"


class RateLimitExceeded(ErrorResponse):
    """A window of the quota is used up (specification section 8)."""

    code = "rate_limit_exceeded"


class KeyBanned(ErrorResponse):
    """The key is banned for a while because it went on after refusals."""

    code = "api_key_banned"


class HeadersTooLarge(ErrorResponse):
    """The headers of the request are too many or too long."""

    code = "headers_too_large"


class ServiceUnavailable(ErrorResponse):
    """The database does not answer."""

    code = "service_unavailable"


def _printable(name: str) -> str:
    # Clients choose these names: they may be long and may contain line breaks.
    short = name[:SHOWN_NAME_LENGTH]
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in short)
