"""Every failure that a client can see: its status and its code, in one tree.

Nothing here knows Flask; `petstore.error_handlers` turns these into responses.
"""

from collections.abc import Mapping
from typing import Self

MAX_BODY_BYTES = 64 * 1024

# The codes of failures that Flask or Werkzeug raise, by status.
CODES = {
    400: "invalid_request",
    404: "not_found",
    405: "method_not_allowed",
    413: "body_too_large",
    500: "internal_error",
    503: "service_unavailable",
}
MESSAGES = {
    404: "There is nothing here; see /v1/pets.",
    405: "This path does not take that method; the Allow header lists those it takes.",
    413: f"The body is too large; {MAX_BODY_BYTES:,} bytes are the most.",
}

SHOWN_MEMBERS = 20
SHOWN_NAME_LENGTH = 80

# The key in the WSGI environ under which a server puts the failure of a request that it
# could not read.
UNREADABLE = "petstore.unreadable"


class Failure(Exception):
    """A response with a status and a code of its own; the message is for the client."""

    status: int
    code: str

    def __init__(self, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.headers = headers or {}


class InvalidRequest(Failure):
    """The body, a parameter or a header cannot be accepted as it is."""

    status, code = 400, "invalid_request"

    @classmethod
    def of_members(cls, errors: Mapping[str, list[str]]) -> Self:
        """One failure that names every member or parameter at fault.

        The first message of each is shown, and 20 members at most.
        """
        shown = [
            f"{_printable(name)}: {messages[0]}"
            for name, messages in list(errors.items())[:SHOWN_MEMBERS]
        ]
        if len(errors) > SHOWN_MEMBERS:
            shown.append(f"and {len(errors) - SHOWN_MEMBERS} more")
        return cls("; ".join(shown))


class MissingKey(Failure):
    """No API key was sent."""

    status, code = 401, "missing_api_key"


class InvalidKey(Failure):
    """A key was sent that is unknown, mistyped, revoked or expired."""

    status, code = 401, "invalid_api_key"


class NotFound(Failure):
    """The resource does not exist, or belongs to another project."""

    status, code = 404, "not_found"


class PetNotAvailable(Failure):
    """The animal is pending or sold."""

    status, code = 409, "pet_not_available"


class OrderClosed(Failure):
    """The order was completed or cancelled before."""

    status, code = 409, "order_closed"


class IdempotencyKeyInUse(Failure):
    """The first request with the key has not ended yet."""

    status, code = 409, "idempotency_key_in_use"


class OperationRemoved(Failure):
    """The removal date of the operation has passed (specification section 9)."""

    status, code = 410, "operation_removed"


class UnsupportedMediaType(Failure):
    """The body is not application/json."""

    status, code = 415, "unsupported_media_type"


class UnknownHost(Failure):
    """No project answers at the host of the request."""

    status, code = 421, "unknown_host"


class IdempotencyKeyReused(Failure):
    """The key was used before, with another body."""

    status, code = 422, "idempotency_key_reused"


class RateLimitExceeded(Failure):
    """A window of the quota is used up (specification section 8)."""

    status, code = 429, "rate_limit_exceeded"


class KeyBanned(Failure):
    """The key is banned for a while because it went on after refusals."""

    status, code = 429, "api_key_banned"


class HeadersTooLarge(Failure):
    """The headers of the request are too many or too long."""

    status, code = 431, "headers_too_large"


class ServiceUnavailable(Failure):
    """The database does not answer."""

    status, code = 503, "service_unavailable"


def _printable(name: str) -> str:
    # Clients choose these names: they may be long and may contain line breaks.
    short = name[:SHOWN_NAME_LENGTH]
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in short)
