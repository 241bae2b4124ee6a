"""What the dashboard shows of past requests: counts of each key, and failures."""

import functools

import orjson
from flask import Flask, Response

from petstore import clock
from petstore.errors import printable
from petstore.models.callers import Caller
from petstore.models.credentials import masked
from petstore.models.requests import Failure, Use, failures, uses
from petstore.quotas import housekeeping
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
    app.after_request(_note)


def _note(response: Response) -> Response:
    request = current_request()
    state, status = request.state, response.status_code
    if caller := state.caller:
        if decision := state.decision:
            uses.add(Use(caller.key_id, decision.now_ms, status not in REFUSED))
        if (
            status >= FIRST_ERROR
            and is_api_path(request.path)
            and isinstance(response, JsonResponse)
        ):
            failures.add(_failure(request, caller, response))
    housekeeping.start()
    return response


def _failure(
    request: ApplicationRequest, caller: Caller, response: JsonResponse
) -> Failure:
    error = orjson.loads(response.body)
    return Failure(
        caller.project_id,
        clock.now_ms(),
        _operation(request),
        response.status_code,
        error["code"],
        printable(masked(error["message"]), MAX_MESSAGE_LENGTH),
        caller.prefix,
        request.state.request_id,
    )


def _operation(request: ApplicationRequest) -> str:
    if request.endpoint:
        return _operation_id(request.endpoint)
    path = masked(f"{request.method} {request.path}")
    return printable(path, MAX_OPERATION_LENGTH)


@functools.cache
def _operation_id(endpoint: str) -> str:
    return camel(endpoint.rpartition(".")[2])
