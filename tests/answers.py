"""What every refusal under /v1 has to look like, whatever its reason."""

from werkzeug.test import TestResponse

RATE_LIMIT_HEADERS = {
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "RateLimit",
    "RateLimit-Policy",
}


def error_of(answer: TestResponse) -> tuple[int, str]:
    """The status and the code of an Error body, which has no other member."""
    body = answer.json
    assert answer.content_type == "application/json"
    assert set(body) == {"code", "message", "status"}
    assert body["status"] == answer.status_code
    assert isinstance(body["message"], str)
    assert body["message"]
    assert set(answer.headers.keys()) >= RATE_LIMIT_HEADERS
    return answer.status_code, body["code"]
