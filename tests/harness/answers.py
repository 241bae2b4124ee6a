"""Assertions shared by all error responses under /v1."""

from werkzeug.test import TestResponse

RATE_LIMIT_HEADERS = {
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "RateLimit",
    "RateLimit-Policy",
}


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
