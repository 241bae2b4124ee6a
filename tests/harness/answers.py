"""Assertions shared by all error responses under /v1."""

from collections.abc import Callable, Iterable
from typing import Any

from werkzeug.test import TestResponse

INVALID = (400, "invalid_request")
NOT_FOUND = (404, "not_found")

RATE_LIMIT_HEADERS = {
    *("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"),
    *("RateLimit", "RateLimit-Policy"),
}
# What differs between two responses to the same request.
PER_REQUEST = {"X-Request-ID", "X-RateLimit-Remaining", "RateLimit"}


def error_of(answer: TestResponse) -> tuple[int, str]:
    """Check the format of an Error response, and return its status and code."""
    body = answer.json
    assert answer.content_type == "application/json"
    assert set(body) == {"code", "message", "status"}
    assert body["status"] == answer.status_code
    assert isinstance(body["message"], str)
    assert body["message"]
    assert set(answer.headers.keys()) >= RATE_LIMIT_HEADERS
    return answer.status_code, body["code"]


def errors_of(
    send: Callable[[Any], TestResponse], cases: Iterable[Any]
) -> dict[Any, tuple[int, str]]:
    """Ask for each case, and return the status and code of each Error response.

    To be compared with `dict.fromkeys(cases, error)`, so that a failing test names the
    cases that are answered otherwise.
    """
    return {case: error_of(send(case)) for case in cases}


def seen(answer: TestResponse) -> tuple[int, str, dict[str, str]]:
    """Return what a client sees of a response, without ids and counts."""
    _, _, asked = answer.request.path.rpartition("/")
    headers = {n: value for n, value in answer.headers.items() if n not in PER_REQUEST}
    return answer.status_code, answer.text.replace(asked, "ID"), headers
