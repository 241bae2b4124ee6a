"""Every error that a client can see: its code, its status and its message.

This module does not know Flask. `petstore.web.error_handlers` makes the responses.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

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
    """Status, texts and headers of all errors of one code."""

    status: int
    when: str  # for the documentation: when it happens, and what to do
    message: str = "{}"  # each `{}` is for a value that `ErrorResponse` takes
    example: tuple[Any, ...] = ()  # for the documentation: such values
    headers: Mapping[str, str] = NO_HEADERS

    @property
    def example_message(self) -> str:
        return self.message.format(*self.example)


ERRORS = {
    "invalid_request": ErrorType(
        400,
        "A member, a parameter or a header is invalid; the message names each fault.",
        example=("name: must have 1 to 200 characters; categoryId: is required",),
    ),
    # The headers of a 401 are those of RFC 6750 section 3.
    "missing_api_key": ErrorType(
        401,
        "The request has no header Authorization: Bearer <API_KEY>.",
        "An API key is needed: send the header Authorization: Bearer <API_KEY>.",
        headers={"WWW-Authenticate": 'Bearer realm="petstore"'},
    ),
    "invalid_api_key": ErrorType(
        401,
        "The key is mistyped, revoked or expired, or the host is another project's.",
        "This API key is not valid here: it is mistyped, revoked or expired, or "
        "this is the host of another project.",
        headers={"WWW-Authenticate": 'Bearer realm="petstore", error="invalid_token"'},
    ),
    "key_not_allowed": ErrorType(
        403,
        "The role or an origin of the key does not allow the request; another key may.",
        example=("This key may only read. This takes a key that may write.",),
    ),
    "project_suspended": ErrorType(
        403,
        "The operator has suspended the project; nothing of it is lost, or served.",
        "This project is suspended until whoever runs this service resumes it.",
    ),
    "not_found": ErrorType(
        404,
        "There is no such path, or the project has no such item.",
        example=("There is no animal 42.",),
    ),
    "method_not_allowed": ErrorType(
        405,
        "The path takes other methods; message and header Allow list them.",
        "This path does not take this method. It takes {}.",
        ("GET, HEAD, OPTIONS, POST",),
    ),
    "pet_not_available": ErrorType(
        409,
        "An open order has the animal, or it is pending or sold; the message says what "
        "to do.",
        example=("The animal 42 has the open order 7: complete or cancel it first.",),
    ),
    "order_closed": ErrorType(
        409,
        "The order was completed or cancelled before; place a new one.",
        "The order {} is {} already: place a new one.",
        (7, "completed"),
    ),
    "order_open": ErrorType(
        409,
        "The order is open; complete or cancel it before it is deleted.",
        "The order {} is open: complete or cancel it first.",
        (7,),
    ),
    "category_in_use": ErrorType(
        409,
        "Animals have the category; give them another one before it is deleted.",
        "Animals have the category {}: give them another category first.",
        (7,),
    ),
    "project_full": ErrorType(
        409,
        "The project holds as many rows as its plan allows.",
        "The project is full: it may hold {:,} animals, orders and categories "
        "together. Ask whoever runs this service for a larger plan.",
        (10_000,),
    ),
    "idempotency_key_in_use": ErrorType(
        409,
        "The first request with this Idempotency-Key still runs; repeat this one.",
        "The first request with this Idempotency-Key is still running.",
        headers=RETRY_AFTER_A_SECOND,
    ),
    "operation_removed": ErrorType(
        410,
        "The operation was removed; its documentation names the successor.",
        "This operation was removed on {}; use {}.",
        ("2030-12-05", "/v1/pets"),
    ),
    "body_too_large": ErrorType(
        413,
        "The body has more than 64 KiB.",
        f"The body is too large; it must have at most {MAX_BODY_BYTES:,} bytes.",
    ),
    "unsupported_media_type": ErrorType(
        415,
        "The body is not application/json, or compressed; the message says which.",
        "The body must be JSON, sent {}.",
        ("with Content-Type: application/json",),
    ),
    "unknown_host": ErrorType(
        421,
        "No project is served at this host.",
        "No project of this service answers at this host.",
    ),
    "idempotency_key_reused": ErrorType(
        422,
        "The Idempotency-Key was used with another body; each request needs a new one.",
        "This Idempotency-Key was used with another body; take a new key.",
    ),
    "rate_limit_exceeded": ErrorType(
        429,
        "A limit is reached; wait for Retry-After seconds.",
        "{}; wait {}.",
        ("Free allows 60 requests a minute", "50 seconds"),
        headers=RETRY_AFTER_A_SECOND,
    ),
    "api_key_banned": ErrorType(
        429,
        "The client kept sending requests after 429 without waiting; wait for "
        "Retry-After seconds.",
        "This API key is banned for a while, for not waiting after 429; wait {}.",
        ("300 seconds",),
        headers=RETRY_AFTER_A_SECOND,
    ),
    "headers_too_large": ErrorType(
        431,
        "There are more than 16 KiB or more than 100 headers.",
        example=("There are more than 16 KiB or more than 100 headers.",),
    ),
    "internal_error": ErrorType(
        500,
        "A bug; the operators of the service find the request in their log by its id.",
        "The server has failed; report {} to its operators.",
        ("5aaa09a2f8784ea3b0fc8df968690986",),
    ),
    "service_unavailable": ErrorType(
        503,
        "The database does not answer, or one caller has too many requests under way; "
        "repeat the request after Retry-After seconds.",
        "{}; please try again.",
        ("The database does not answer at the moment",),
        headers=RETRY_AFTER_A_SECOND,
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
