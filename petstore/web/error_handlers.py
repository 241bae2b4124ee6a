"""The one place where an exception becomes a response.

Models raise a subclass of `RuleError` when a rule does not allow something. It carries
its code, and `petstore.errors.STATUSES` has the status of each code.
"""

from collections.abc import Callable
from http import HTTPStatus

import orjson
import peewee
from flask import Flask, Response, current_app, g, request
from werkzeug.exceptions import HTTPException

from petstore import errors
from petstore.errors import CODES, MESSAGES, STATUSES, UNREADABLE, ErrorResponse
from petstore.models import RuleError
from petstore.models.events import emit
from petstore.models.projects import Project
from petstore.storage import data
from petstore.web.responses import JsonResponse
from petstore.web.routing import current_request

RETRY_AFTER_SECONDS = 1

# What a client may send again after RETRY_AFTER_SECONDS.
TEMPORARY = ("idempotency_key_in_use", "service_unavailable")

Page = Callable[[int, str], Response]


def init_app(app: Flask) -> None:
    """Answer every error with the Error body (specification section 7)."""
    app.before_request(_raise_if_unreadable)
    app.extensions["error_pages"] = []
    app.register_error_handler(ErrorResponse, answer_error)
    app.register_error_handler(RuleError, answer_rule_error)
    app.register_error_handler(peewee.PeeweeException, _answer_database_error)
    app.register_error_handler(HTTPException, _answer_http_exception)
    app.register_error_handler(Exception, _answer_bug)


def show_as_pages(app: Flask, is_page: Callable[[str], bool], page: Page) -> None:
    """Answer errors at some paths with pages, made from the status and the text."""
    app.extensions["error_pages"].append((is_page, page))


def answer_error(error: ErrorResponse) -> Response:
    """Return the response that the error stands for."""
    return _response(error.status, error.code, error.message, error.headers)


def answer_rule_error(error: RuleError) -> Response:
    """Return the response to a rule's error; one without a code is a bug."""
    if error.code is None:
        return _answer_bug(error)
    headers = _retry_after() if error.code in TEMPORARY else {}
    return _response(STATUSES[error.code], error.code, str(error), headers)


def _raise_if_unreadable() -> None:
    # The environ must not keep the error, since its traceback refers to the environ.
    if error := current_request().environ.pop(UNREADABLE, None):
        raise error


def _answer_database_error(error: peewee.PeeweeException) -> Response:
    if isinstance(error, peewee.IntegrityError) and _is_project_deleted():
        return answer_error(
            errors.InvalidKey("Its project is deleted.", errors.INVALID_TOKEN)
        )
    if not data.is_outage(error):
        return _answer_bug(error)
    emit("database_error", reason=str(error))
    data.recover(error)
    return answer_error(
        errors.ServiceUnavailable(
            "The database does not answer at the moment; please try again.",
            _retry_after(),
        )
    )


def _is_project_deleted() -> bool:
    """Return whether the project was deleted while its request was under way."""
    caller = g.get("caller")
    return bool(caller) and Project.get_or_none(id=caller.project_id) is None


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
    g.error_code = code
    for is_page, page in current_app.extensions["error_pages"]:
        if is_page(request.path):
            response: Response = page(status, message)
            response.headers.update(headers)
            return response
    body = orjson.dumps({"code": code, "message": message, "status": status})
    return JsonResponse(body, status, headers)
