"""Every failure that a caller can see: its status, its code, its body, one handler."""

from collections.abc import Callable
from http import HTTPStatus

import orjson
from flask import Flask, Response, current_app, g, request
from werkzeug.exceptions import HTTPException

from petstore.responses import JsonResponse

# The code of a failure that Flask or Werkzeug found, by status.
CODES = {
    400: "invalid_request",
    404: "not_found",
    405: "method_not_allowed",
    413: "body_too_large",
    415: "unsupported_media_type",
    500: "internal_error",
    503: "service_unavailable",
}
MESSAGES = {
    404: "There is nothing here; see /v1/pets.",
    405: "This path does not take that method; the Allow header lists those it takes.",
    413: "The body is too large; 65,536 bytes are the most.",
}


class Failure(Exception):
    """A refusal with a status and a code of its own; the text is for the caller."""

    status: int
    code: str

    def __init__(self, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.headers = headers or {}


class InvalidRequest(Failure):
    """The body, a parameter or a header cannot be accepted as it is."""

    status, code = 400, "invalid_request"


class MissingKey(Failure):
    """No API key was sent."""

    status, code = 401, "missing_api_key"


class InvalidKey(Failure):
    """A key was sent that is unknown, mistyped, revoked or expired."""

    status, code = 401, "invalid_api_key"


class NotFound(Failure):
    """The resource does not exist, or belongs to another project."""

    status, code = 404, "not_found"


class Conflict(Failure):
    """The business refuses, as things stand: the answer is final for this request."""

    status = 409


class PetNotAvailable(Conflict):
    """The animal is pending or sold."""

    code = "pet_not_available"


class OrderClosed(Conflict):
    """The order was completed or cancelled before."""

    code = "order_closed"


class IdempotencyKeyInUse(Failure):
    """The first request of the key has not ended yet."""

    status, code = 409, "idempotency_key_in_use"


class UnknownHost(Failure):
    """No project answers at the host of the request."""

    status, code = 421, "unknown_host"


class IdempotencyKeyReused(Failure):
    """The key was used before, with another body."""

    status, code = 422, "idempotency_key_reused"


class OperationRemoved(Failure):
    """The operation's removal date has come (specification section 9)."""

    status, code = 410, "operation_removed"


class UnsupportedMediaType(Failure):
    """The body is no application/json."""

    status, code = 415, "unsupported_media_type"


class HeadersTooLarge(Failure):
    """The headers of the request are too many or too long."""

    status, code = 431, "headers_too_large"


class RateLimitExceeded(Failure):
    """A window of the quota is used up (specification section 8)."""

    status, code = 429, "rate_limit_exceeded"


class KeyBanned(Failure):
    """The key went on after its refusals and is banned for a while."""

    status, code = 429, "api_key_banned"


class ServiceUnavailable(Failure):
    """The database does not answer."""

    status, code = 503, "service_unavailable"


# Where a server puts the failure of a request that it could not read.
REFUSAL = "petstore.refusal"


def init_app(app: Flask) -> None:
    """Answer every failure with the Error body (specification section 7)."""
    app.before_request(_refuse)
    app.extensions["failure_pages"] = []
    app.register_error_handler(Failure, answer_failure)
    app.register_error_handler(HTTPException, _answer_http_exception)
    app.register_error_handler(Exception, answer_bug)


def show_as_pages(
    app: Flask, is_page: Callable[[str], bool], render: Callable[[int, str], Response]
) -> None:
    """Let the failures of some paths be pages, made of the status and the text."""
    app.extensions["failure_pages"].append((is_page, render))


def answer_failure(failure: Failure) -> Response:
    """The response to a failure, its headers included."""
    return _response(failure.status, failure.code, failure.message, failure.headers)


def _refuse() -> None:
    if REFUSAL in request.environ:
        raise request.environ[REFUSAL]


def _answer_http_exception(error: HTTPException) -> Response:
    status = error.code or 500
    code = CODES.get(status, CODES[400] if status < 500 else CODES[500])
    message = MESSAGES.get(status) or error.description or HTTPStatus(status).phrase
    headers = dict(error.get_headers())
    del headers["Content-Type"]
    if "Allow" in headers:
        headers["Allow"] = ", ".join(sorted(headers["Allow"].split(", ")))
    return _response(status, code, message, headers)


def answer_bug(error: Exception) -> Response:
    """The response to what should not have happened, which the log tells of."""
    current_app.logger.error("internal_error", exc_info=error)
    message = f"Something failed on this side; quote {g.request_id} to its operators."
    return _response(500, CODES[500], message, {})


def _response(
    status: int, code: str, message: str, headers: dict[str, str]
) -> Response:
    for is_page, render in current_app.extensions["failure_pages"]:
        if is_page(request.path):
            page = render(status, message)
            page.headers.update(headers)
            return page
    body = orjson.dumps({"code": code, "message": message, "status": status})
    return JsonResponse(body, status, headers)
