"""Idempotency-Key on any POST: a retry gets the first response again."""

import functools
import hashlib
import re
from typing import Any

from flask import Response, g, request

from petstore.api.contract import Operation
from petstore.database import data
from petstore.error_handlers import answer_refused
from petstore.errors import IdempotencyKeyReused, InvalidRequest
from petstore.models import Conflict
from petstore.models.replies import WAIT_MS, Attempt, Reply
from petstore.responses import JsonResponse

HEADER = "Idempotency-Key"

_KEY = re.compile(r"[!-~]{1,255}")


def idempotent(operation: Operation) -> Operation:
    """Carry out each key once, in one transaction with the stored response."""

    @functools.wraps(operation)
    def respond(**arguments: Any) -> Response:
        attempt = _read_attempt()
        if attempt is None:
            return operation(**arguments)
        # This comes first, so that nothing can fail the request after it has written.
        Reply.sweep()
        with data.writing(attempt.project, lock_ms=WAIT_MS):
            if not Reply.claim(attempt):
                return _replay(attempt)
            response = _carry_out(operation, arguments)
            Reply.keep(
                attempt,
                response.status_code,
                response.headers.get("Location"),
                response.get_data(),
            )
        return response

    return respond


def _read_attempt() -> Attempt | None:
    header = request.headers.get(HEADER)
    if header is None:
        return None
    is_quoted = len(header) > 1 and header[0] == header[-1] == '"'
    key = header[1:-1] if is_quoted else header
    if not _KEY.fullmatch(key):
        raise InvalidRequest(
            f"{HEADER}: must be 1 to 255 characters from ! to ~, quoted or not"
        )
    fingerprint = hashlib.sha256(request.get_data()).digest()
    return Attempt(g.caller.project_id, request.path, key, fingerprint)


def _carry_out(operation: Operation, arguments: dict[str, Any]) -> Response:
    try:
        return operation(**arguments)
    except Conflict as conflict:
        # A retry has to get the same answer, so it is stored like a success.
        return answer_refused(conflict)


def _replay(attempt: Attempt) -> Response:
    reply = Reply.of(attempt)
    if bytes(reply.fingerprint) != attempt.fingerprint:
        raise IdempotencyKeyReused(
            "This Idempotency-Key was used with another body; take a new key."
        )
    headers = {"Idempotent-Replayed": "true"}
    if reply.location:
        headers["Location"] = reply.location
    return JsonResponse(bytes(reply.body or b""), reply.status or 200, headers)
