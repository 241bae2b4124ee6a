"""What the interface description and /docs say of each code of an error."""

from typing import Any, NamedTuple

from petstore.errors import ERRORS


class Explanation(NamedTuple):
    when: str  # it happens, and what to do
    example: tuple[Any, ...] = ()  # values for its message


EXPLANATIONS = {
    "invalid_request": Explanation(
        "A member, a parameter or a header is invalid; the message names each fault.",
        ("name: must have 1 to 200 characters; categoryId: is required",),
    ),
    "missing_api_key": Explanation(
        "The request has no header Authorization: Bearer <API_KEY>."
    ),
    "invalid_api_key": Explanation(
        "The key is mistyped, revoked or expired, or the host is another project's."
    ),
    "key_not_allowed": Explanation(
        "The role or an origin of the key does not allow the request; another key may.",
        ("This key may only read. This takes a key that may write.",),
    ),
    "project_suspended": Explanation(
        "The operator has suspended the project; nothing of it is lost, or served."
    ),
    "not_found": Explanation(
        "There is no such path, or the project has no such item.",
        ("There is no animal 42.",),
    ),
    "method_not_allowed": Explanation(
        "The path takes other methods; message and header Allow list them.",
        ("GET, HEAD, OPTIONS, POST",),
    ),
    "pet_not_available": Explanation(
        "An open order has the animal, or it is pending or sold; the message says what "
        "to do.",
        ("The animal 42 has the open order 7: complete or cancel it first.",),
    ),
    "order_closed": Explanation(
        "The order was completed or cancelled before; place a new one.",
        (7, "completed"),
    ),
    "order_open": Explanation(
        "The order is open; complete or cancel it before it is deleted.", (7,)
    ),
    "category_in_use": Explanation(
        "Animals have the category; give them another one before it is deleted.", (7,)
    ),
    "project_full": Explanation(
        "The project holds as many rows as its plan allows.", (10_000,)
    ),
    "idempotency_key_in_use": Explanation(
        "The first request with this Idempotency-Key still runs; repeat this one."
    ),
    "operation_removed": Explanation(
        "The operation was removed; its documentation names the successor.",
        ("2030-12-05", "/v1/pets"),
    ),
    "body_too_large": Explanation("The body has more than 64 KiB."),
    "unsupported_media_type": Explanation(
        "The body is not application/json, or compressed; the message says which.",
        ("with Content-Type: application/json",),
    ),
    "unknown_host": Explanation("No project is served at this host."),
    "idempotency_key_reused": Explanation(
        "The Idempotency-Key was used with another body; each request needs a new one."
    ),
    "rate_limit_exceeded": Explanation(
        "A limit is reached; wait for Retry-After seconds.",
        ("Free allows 60 requests a minute", "50 seconds"),
    ),
    "api_key_banned": Explanation(
        "The client kept sending requests after 429 without waiting; wait for "
        "Retry-After seconds.",
        ("300 seconds",),
    ),
    "headers_too_large": Explanation(
        "There are more than 16 KiB or more than 100 headers.",
        ("There are more than 16 KiB or more than 100 headers.",),
    ),
    "internal_error": Explanation(
        "A bug; the operators of the service find the request in their log by its id.",
        ("5aaa09a2f8784ea3b0fc8df968690986",),
    ),
    "service_unavailable": Explanation(
        "The database does not answer, or one caller has too many requests under way; "
        "repeat the request after Retry-After seconds.",
        ("The database does not answer at the moment",),
    ),
}


def example_of(code: str) -> str:
    """Return the message of an error as an example."""
    return ERRORS[code].message.format(*EXPLANATIONS[code].example)
