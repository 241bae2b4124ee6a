"""What the dashboard shows of past requests: counts of each key, and failures."""

import functools

import orjson
from flask import Flask, Response

from petstore import clock
from petstore.errors import printable
from petstore.models.callers import Caller
from petstore.models.credentials import masked
from petstore.models.failed_requests import Failure, failure_queue
from petstore.models.key_usage import key_notes
from petstore.monitoring import metrics
from petstore.web.application import (
    ApplicationRequest,
    camel,
    current_request,
    is_api_path,
)
from petstore.web.responses import JsonResponse

REFUSED = (403, 429)
FIRST_ERROR = 400
MAX_MESSAGE_LENGTH = 1_000
MAX_OPERATION_LENGTH = 100


def init_app(app: Flask) -> None:
    """Note each request with a key when its response is known."""
    failure_queue.on_drop = functools.partial(
        metrics.count_event, "failed_request_dropped"
    )
    app.after_request(_note)


def _note(response: Response) -> Response:
    request = current_request()
    state, status = request.state, response.status_code
    if caller := state.caller:
        if decision := state.decision:
            key_notes.add(caller, decision.now_ms, is_served=status not in REFUSED)
        if status >= FIRST_ERROR and is_api_path(request.path):
            _note_failure(request, caller, response)
    return response


def _note_failure(
    request: ApplicationRequest, caller: Caller, response: Response
) -> None:
    now = clock.now_ms()
    if isinstance(response, JsonResponse) and failure_queue.has_room(
        caller.project_id, now
    ):
        operation, request_id = _operation(request), request.state.request_id
        facts = (caller, now, operation, response.status_code, request_id)
        failure_queue.add(functools.partial(_failure, *facts, response.body))


def _failure(
    caller: Caller, now: int, operation: str, status: int, request_id: str, body: bytes
) -> Failure:
    error = orjson.loads(body)
    return Failure(
        caller.project_id,
        now,
        operation,
        status,
        error["code"],
        printable(masked(error["message"]), MAX_MESSAGE_LENGTH),
        caller.prefix,
        request_id,
    )


def _operation(request: ApplicationRequest) -> str:
    if request.endpoint:
        return _operation_id(request.endpoint)
    path = masked(f"{request.method} {request.path}")
    return printable(path, MAX_OPERATION_LENGTH)


@functools.cache
def _operation_id(endpoint: str) -> str:
    return camel(endpoint.rpartition(".")[2])
