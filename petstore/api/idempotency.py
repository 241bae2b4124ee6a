"""Idempotency-Key on any POST or PATCH: a retry gets the first response again."""

import functools
import hashlib
import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import orjson
from flask import Response

from petstore import timeouts
from petstore.api.contract import Operation
from petstore.errors import ErrorResponse, InvalidRequest
from petstore.models import Conflict
from petstore.models.stored_responses import Attempt, StoredResponse
from petstore.storage import db
from petstore.web.application import current_request
from petstore.web.error_handlers import answer_rule_error
from petstore.web.responses import JsonResponse

HEADER = "Idempotency-Key"

_KEY = re.compile(r"[!-~]{1,255}")


def idempotent(operation: Operation) -> Callable[..., Response]:
    """Carry out each key once, in one transaction with the stored response.

    The request is checked before: a refusal must not keep the writer's lock.
    """

    @functools.wraps(operation)
    def respond(**arguments: Any) -> Response:
        attempt = _read_attempt()
        if attempt is None:
            return operation(**arguments)
        try:
            arguments = operation.load(arguments)
        except ErrorResponse:
            if stored := StoredResponse.find(attempt):
                return _replay(stored, attempt)
            raise
        seconds = timeouts.LIMITS.replay_lock_seconds
        with db.atomic(lock_seconds=seconds):
            if stored := StoredResponse.find_locked(attempt):
                return _replay(stored, attempt)
            response = _carry_out(operation, arguments)
            StoredResponse.keep(
                attempt,
                response.status_code,
                response.headers.get("Location"),
                response.get_data(),
            )
        return response

    return respond


def _read_attempt() -> Attempt | None:
    request = current_request()
    header = request.environ.get("HTTP_IDEMPOTENCY_KEY")
    if header is None:
        return None
    is_quoted = len(header) > 1 and header[0] == header[-1] == '"'
    key = header[1:-1] if is_quoted else header
    if not _KEY.fullmatch(key):
        raise InvalidRequest(
            f"{HEADER}: must be 1 to 255 characters from ! to ~, quoted or not"
        )
    project_id = request.state.required_caller.project_id
    fingerprint = hashlib.sha256(request.get_data()).digest()
    return Attempt(project_id, request.path, key, fingerprint)


def _carry_out(operation: Operation, arguments: dict[str, Any]) -> Response:
    try:
        return operation.carry_out(arguments)
    except Conflict as conflict:
        # A retry has to get the same answer, so it is stored like a success.
        return answer_rule_error(conflict)


def _replay(stored: StoredResponse, attempt: Attempt) -> Response:
    if bytes(stored.fingerprint) != attempt.fingerprint:
        raise ErrorResponse("idempotency_key_reused")
    headers = {"Idempotent-Replayed": "true"}
    if stored.location:
        headers["Location"] = stored.location
    body, status = bytes(stored.body or b""), stored.status or 200  # never null
    if status >= HTTPStatus.BAD_REQUEST:
        current_request().state.error_code = orjson.loads(body)["code"]  # for the log
    return JsonResponse(body, status, headers)
