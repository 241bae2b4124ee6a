"""Every error that a client can see: its code, its status and its message.

This module does not know Flask. `petstore.web.error_handlers` makes the responses.
"""

from collections.abc import Mapping
from typing import NamedTuple, Self

MAX_BODY_BYTES = 64 * 1024

SHOWN_NAME_LENGTH = 80

# The key, in the WSGI environ, of an error that came before the hooks of the
# application, as that of a request that the server could not read. The first hook
# raises the error.
UNREADABLE = "petstore.unreadable"
# And of the seconds in which a body that the application reads has to arrive.
BODY_SECONDS = "petstore.body_seconds"

NO_HEADERS: Mapping[str, str] = {}
RETRY_AFTER_A_SECOND = {"Retry-After": "1"}


class ErrorType(NamedTuple):
    """Status, message and headers of all errors of one code."""

    status: int
    message: str = "{}"  # each `{}` is for a value that `ErrorResponse` takes
    headers: Mapping[str, str] = NO_HEADERS


ERRORS = {
    "invalid_request": ErrorType(400),
    # The headers of a 401 are those of RFC 6750 section 3.
    "missing_api_key": ErrorType(
        401,
        "An API key is needed: send the header Authorization: Bearer <API_KEY>.",
        headers={"WWW-Authenticate": 'Bearer realm="petstore"'},
    ),
    "invalid_api_key": ErrorType(
        401,
        "This API key is not valid here: it is mistyped, revoked or expired, or "
        "this is the host of another project.",
        headers={"WWW-Authenticate": 'Bearer realm="petstore", error="invalid_token"'},
    ),
    "key_not_allowed": ErrorType(403),
    "project_suspended": ErrorType(
        403, "This project is suspended until whoever runs this service resumes it."
    ),
    "not_found": ErrorType(404),
    "method_not_allowed": ErrorType(
        405, "This path does not take this method. It takes {}."
    ),
    "pet_not_available": ErrorType(409),
    "order_closed": ErrorType(409, "The order {} is {} already: place a new one."),
    "order_open": ErrorType(409, "The order {} is open: complete or cancel it first."),
    "category_in_use": ErrorType(
        409, "Animals have the category {}: give them another category first."
    ),
    "project_full": ErrorType(
        409,
        "The project is full: it may hold {:,} animals, orders and categories "
        "together. Ask whoever runs this service for a larger plan.",
    ),
    "idempotency_key_in_use": ErrorType(
        409,
        "The first request with this Idempotency-Key is still running.",
        headers=RETRY_AFTER_A_SECOND,
    ),
    "operation_removed": ErrorType(410, "This operation was removed on {}; use {}."),
    "body_too_large": ErrorType(
        413, f"The body is too large; it must have at most {MAX_BODY_BYTES:,} bytes."
    ),
    "unsupported_media_type": ErrorType(415, "The body must be JSON, sent {}."),
    "unknown_host": ErrorType(421, "No project of this service answers at this host."),
    "idempotency_key_reused": ErrorType(
        422, "This Idempotency-Key was used with another body; take a new key."
    ),
    "rate_limit_exceeded": ErrorType(429, "{}; wait {}.", headers=RETRY_AFTER_A_SECOND),
    "api_key_banned": ErrorType(
        429,
        "This API key is banned for a while, for not waiting after 429; wait {}.",
        headers=RETRY_AFTER_A_SECOND,
    ),
    "headers_too_large": ErrorType(431),
    "internal_error": ErrorType(
        500, "The server has failed; report {} to its operators."
    ),
    "service_unavailable": ErrorType(
        503, "{}; please try again.", headers=RETRY_AFTER_A_SECOND
    ),
}


class ErrorResponse(Exception):
    def __init__(
        self, code: str, *values: object, headers: Mapping[str, str] = NO_HEADERS
    ) -> None:
        """Take the values for the message of the code, and headers of this error."""
        super().__init__(ERRORS[code].message.format(*values))
        self.code = code
        self.headers = headers


class InvalidRequest(ErrorResponse):
    """The body, a parameter or a header cannot be accepted as it is."""

    def __init__(self, fault: str) -> None:
        super().__init__("invalid_request", fault)

    @classmethod
    def of_members(cls, faults: Mapping[str, str]) -> Self:
        """Return one error that names every invalid member, with its fault."""
        names = [printable(name, SHOWN_NAME_LENGTH) for name in faults]
        shown = zip(names, faults.values(), strict=True)
        return cls("; ".join(f"{name}: {fault}" for name, fault in shown))


def printable(text: str, length: int) -> str:
    """Return the beginning of a client's text, in one line."""
    short = text[:length]  # it may be long and may contain line breaks
    if short.isprintable():
        return short
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in short)
