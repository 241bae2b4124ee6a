"""The one place where an exception becomes a response.

Models raise a subclass of `Refused` when a rule does not allow something. They do not
know HTTP: `FAILURES` gives each of their exceptions its status, code and headers.
"""

from collections.abc import Callable
from http import HTTPStatus

import orjson
import peewee
from flask import Flask, Response, current_app, g, request
from werkzeug.exceptions import HTTPException

from petstore import errors
from petstore.database import data
from petstore.errors import CODES, MESSAGES, UNREADABLE, Failure
from petstore.events import emit
from petstore.models import Refused
from petstore.models.domains import NoSuchDomain
from petstore.models.keys import NoSuchKey
from petstore.models.orders import NoSuchOrder, OrderClosed, PetUnknown
from petstore.models.pets import NoSuchPet, PetNotAvailable
from petstore.models.replies import StillRunning
from petstore.quotas.fallback import CountersLocked
from petstore.responses import JsonResponse

RETRY_AFTER_SECONDS = 1

FAILURES: dict[type[Refused], Callable[[str], Failure]] = {
    NoSuchPet: errors.NotFound,
    NoSuchOrder: errors.NotFound,
    NoSuchKey: errors.NotFound,
    NoSuchDomain: errors.NotFound,
    PetUnknown: lambda _text: errors.InvalidRequest.of_members(
        {"petId": ["names no animal"]}
    ),
    PetNotAvailable: errors.PetNotAvailable,
    OrderClosed: errors.OrderClosed,
    CountersLocked: lambda text: errors.ServiceUnavailable(text, _retry_after()),
    StillRunning: lambda text: errors.IdempotencyKeyInUse(text, _retry_after()),
}

Page = Callable[[int, str], Response]


def init_app(app: Flask) -> None:
    """Answer every failure with the Error body (specification section 7)."""
    app.before_request(_raise_if_unreadable)
    app.extensions["failure_pages"] = []
    app.register_error_handler(Failure, answer_failure)
    app.register_error_handler(Refused, answer_refused)
    app.register_error_handler(peewee.PeeweeException, _answer_database_error)
    app.register_error_handler(HTTPException, _answer_http_exception)
    app.register_error_handler(Exception, _answer_bug)


def show_as_pages(app: Flask, is_page: Callable[[str], bool], page: Page) -> None:
    """Answer failures at some paths with pages, made from the status and the text."""
    app.extensions["failure_pages"].append((is_page, page))


def answer_failure(failure: Failure) -> Response:
    """Return the response to a failure, with its headers."""
    return _response(failure.status, failure.code, failure.message, failure.headers)


def answer_refused(refused: Refused) -> Response:
    """Return the response to a refusal; one that `FAILURES` lacks is a bug."""
    failure = FAILURES.get(type(refused))
    return answer_failure(failure(str(refused))) if failure else _answer_bug(refused)


def _raise_if_unreadable() -> None:
    if UNREADABLE in request.environ:
        raise request.environ[UNREADABLE]


def _answer_database_error(error: peewee.PeeweeException) -> Response:
    if not data.is_outage(error):
        return _answer_bug(error)
    emit("database_error", reason=str(error))
    data.recover(error)
    return answer_failure(
        errors.ServiceUnavailable(
            "The database does not answer at the moment; please try again.",
            _retry_after(),
        )
    )


def _retry_after() -> dict[str, str]:
    return {"Retry-After": str(RETRY_AFTER_SECONDS)}


def _answer_http_exception(error: HTTPException) -> Response:
    status = error.code or 500
    code = CODES.get(status, CODES[400] if status < 500 else CODES[500])
    message = MESSAGES.get(status) or error.description or HTTPStatus(status).phrase
    headers = dict(error.get_headers())
    del headers["Content-Type"]
    if "Allow" in headers:
        headers["Allow"] = ", ".join(sorted(headers["Allow"].split(", ")))
    return _response(status, code, message, headers)


def _answer_bug(error: Exception) -> Response:
    current_app.logger.error("internal_error", exc_info=error)
    message = f"The server has failed; report {g.request_id} to its operators."
    return _response(500, CODES[500], message, {})


def _response(
    status: int, code: str, message: str, headers: dict[str, str]
) -> Response:
    pages: list[tuple[Callable[[str], bool], Page]]
    pages = current_app.extensions["failure_pages"]
    for is_page, page in pages:
        if is_page(request.path):
            response = page(status, message)
            response.headers.update(headers)
            return response
    body = orjson.dumps({"code": code, "message": message, "status": status})
    return JsonResponse(body, status, headers)
