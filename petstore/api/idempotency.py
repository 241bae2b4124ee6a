"""Idempotency-Key on any POST: a retry gets the first answer again."""

import functools
import hashlib
import re
from typing import Any

from flask import Response, g, request

from petstore.api.contract import View
from petstore.database import data
from petstore.errors import (
    Conflict,
    IdempotencyKeyInUse,
    IdempotencyKeyReused,
    InvalidRequest,
    answer_failure,
)
from petstore.models.replies import FIRST_MS, Attempt, Reply, StillRunning
from petstore.responses import JsonResponse

HEADER = "Idempotency-Key"

_KEY = re.compile(r"[!-~]{1,255}")


def idempotent(view: View) -> View:
    """Answer each key once, in one transaction with what the answer acknowledges."""

    @functools.wraps(view)
    def answer(**arguments: Any) -> Response:
        attempt = _read_attempt()
        if attempt is None:
            return view(**arguments)
        try:
            with data.writing(attempt.project, lock_ms=FIRST_MS):
                if not Reply.claim(attempt):
                    return _replay(attempt)
                response = _carry_out(view, arguments)
                Reply.keep(
                    attempt,
                    response.status_code,
                    response.headers.get("Location"),
                    response.get_data(),
                )
        except StillRunning:
            raise IdempotencyKeyInUse(
                "The first request with this Idempotency-Key is still running.",
                {"Retry-After": "1"},
            ) from None
        Reply.sweep()
        return response

    return answer


def _read_attempt() -> Attempt | None:
    sent = request.headers.get(HEADER)
    if sent is None:
        return None
    is_quoted = len(sent) > 1 and sent[0] == sent[-1] == '"'
    key = sent[1:-1] if is_quoted else sent
    if not _KEY.fullmatch(key):
        raise InvalidRequest(
            f"{HEADER}: must be 1 to 255 characters from ! to ~, quoted or not"
        )
    fingerprint = hashlib.sha256(request.get_data()).digest()
    return Attempt(g.caller.project_id, request.path, key, fingerprint)


def _carry_out(view: View, arguments: dict[str, Any]) -> Response:
    try:
        return view(**arguments)
    except Conflict as failure:
        # The business has decided, and so has to decide the same on a retry.
        return answer_failure(failure)


def _replay(attempt: Attempt) -> Response:
    reply = Reply.of(attempt)
    if bytes(reply.fingerprint) != attempt.fingerprint:
        raise IdempotencyKeyReused(
            "This Idempotency-Key was used with another body; take a new key."
        )
    headers = {"Idempotent-Replayed": "true"}
    if reply.location:
        headers["Location"] = reply.location
    return JsonResponse(bytes(reply.body), reply.status, headers)
