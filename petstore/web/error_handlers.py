"""The one place where an exception becomes a response.

Models raise a subclass of `RuleError` when a rule does not allow something. It carries
its code, and `petstore.errors.ERRORS` has the status of each code.
"""

from collections.abc import Mapping

import peewee
from flask import Flask, Response, current_app
from werkzeug.exceptions import HTTPException

from petstore.errors import ERRORS, NO_HEADERS, ErrorResponse, InvalidRequest
from petstore.events import emit
from petstore.models import RuleError
from petstore.models.projects import Project
from petstore.storage import Busy, db
from petstore.web.application import JsonResponse, current_request

NO_SUCH_PATH = (
    "There is no such path. There are /v1/pets, /v1/store/orders and /v1/categories, "
    "with the ids of what they list"
)


def init_app(app: Flask) -> None:
    """Answer every error with the Error body (specification section 7).

    The dashboard puts a function in the place of `error_page`, which makes a page of
    the status, the message and the headers of errors at its own paths.
    """
    references: list[str] = []
    app.extensions["references"] = app.jinja_env.globals["references"] = references
    app.extensions["error_page"] = lambda _status, _message, _headers: None
    app.register_error_handler(ErrorResponse, answer_error)
    app.register_error_handler(RuleError, answer_rule_error)
    app.register_error_handler(peewee.PeeweeException, _answer_database_error)
    app.register_error_handler(HTTPException, _answer_http_exception)
    app.register_error_handler(Exception, _answer_bug)


def add_reference(app: Flask, path: str) -> None:
    """Name a path that describes the API to a client that asks for an unknown one."""
    app.extensions["references"].append(path)


def answer_error(error: ErrorResponse) -> Response:
    return _response(error.code, str(error), error.headers)


def answer_rule_error(error: RuleError) -> Response:
    """Return the response to a rule's error; one without a code is a bug."""
    return _response(error.code, str(error)) if error.code else _answer_bug(error)


def _answer_database_error(error: peewee.PeeweeException) -> Response:
    if isinstance(error, peewee.IntegrityError):
        try:
            if _is_project_deleted():
                return answer_error(ErrorResponse("invalid_api_key"))
        except peewee.PeeweeException as newer:  # the database has gone away meanwhile
            error = newer
    if not db.is_outage(error):
        return _answer_bug(error)
    # If requests only wait for each other's locks and connections, nothing is broken.
    event = "database_busy" if isinstance(error, Busy) else "database_error"
    emit(event, reason=str(error))
    db.recover(error)
    away = "The database does not answer at the moment"
    return answer_error(ErrorResponse("service_unavailable", away))


def _is_project_deleted() -> bool:
    """Return whether the project was deleted while its request was under way."""
    caller = current_request().state.caller
    return caller is not None and Project.get_or_none(id=caller.project_id) is None


def _answer_http_exception(error: HTTPException) -> Response:
    status = error.code or 500
    if status >= 500:
        return _answer_bug(error)
    shown: ErrorResponse = InvalidRequest(error.description or error.name)
    if status == 404:
        references = " and ".join(current_app.extensions["references"])
        see = f"; see {references}" if references else ""
        shown = ErrorResponse("not_found", f"{NO_SUCH_PATH}{see}.")
    elif status == 413:
        shown = ErrorResponse("body_too_large")
    headers = dict(error.get_headers())
    del headers["Content-Type"]
    if "Allow" in headers:
        allowed = ", ".join(sorted(headers["Allow"].split(", ")))
        shown = ErrorResponse("method_not_allowed", allowed)
        headers["Allow"] = allowed
    return _response(shown.code, str(shown), headers, status)


def _answer_bug(error: Exception) -> Response:
    current_app.logger.error("internal_error", exc_info=error)
    return answer_error(
        ErrorResponse("internal_error", current_request().state.request_id)
    )


def _response(
    code: str,
    message: str,
    headers: Mapping[str, str] = NO_HEADERS,
    status: int | None = None,
) -> Response:
    current_request().state.error_code = code
    status = status or ERRORS[code].status
    headers = {**ERRORS[code].headers, **headers}
    make_page = current_app.extensions["error_page"]
    page: Response | None = make_page(status, message, headers)
    if page is not None:
        page.headers.update(headers)
        return page
    members = {"code": code, "message": message, "status": status}
    return JsonResponse.of(members, status, headers)
