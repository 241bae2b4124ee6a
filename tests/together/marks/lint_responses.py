"""Send requests of many kinds and run httplint over the responses, as they arrive.

`lint_responses.py URL KEY` runs in the environment of httplint, and imports nothing of
the tests.
"""

import re
import sys
import time
from http.client import HTTPConnection
from urllib.parse import urlsplit

from httplint import HttpRequestLinter, HttpResponseLinter

PET = b'{"name": "Rex", "categoryId": 7}'
STYLE = "/static/theme.css"
REQUESTS = [  # what is sent, with a body or headers
    *(("POST", "/v1/pets", PET), ("POST", "/v1/pets", b"{")),
    *(("GET", f"/v1/{path}") for path in ("pets", "pets/1", "pets/9", "pets?limit=0")),
    *(("PATCH", "/v1/pets/1", b'{"name": "Max"}'), ("HEAD", "/v1/pets")),
    *(("POST", "/v1/store/orders", b'{"petId": 1}'), ("OPTIONS", "/v1/pets")),
    *(("POST", "/v1/store/orders", b'{"petId": 1}'), ("TRACE", "/v1/pets")),
    *(("GET", f"/v1/store/orders{path}") for path in ("", "/1", "/9")),
    ("PATCH", "/v1/store/orders/1", b'{"status": "cancelled"}'),
    *(("DELETE", "/v1/store/orders/1"), ("DELETE", "/v1/pets/1")),
    *(("PUT", "/v1/categories/5", b'{"name": "Cats"}'), ("GET", "/v1/categories")),
    *(("DELETE", "/v1/categories/5"), ("POST", "/v1/pets", PET * 3000)),
    *(("GET", "/v1/pets", {"Authorization": "Bearer x"}), ("GET", "/nowhere")),
    *(("GET", f"/{path}") for path in ("", "docs", "openapi.json", "dashboard")),
    *(("GET", f"/{path}") for path in ("healthz", "readyz", "metrics")),
    *(("GET", "/dashboard/sign-in"), ("GET", STYLE), ("GET", "/dashboard/nowhere")),
    *(("GET", STYLE, {"Range": f"bytes={part}"}) for part in ("0-9", "999999-")),
    ("GET", STYLE, {"If-None-Match": "*"}),
]
# Notes that are allowed, for which method, path and status.
EXCEPTIONS = {
    # Without it, the target of the request is what was created (RFC 9110).
    "CREATED_WITHOUT_LOCATION": r"PUT /v1/categories/\d+ 201",
    "STATUS_BAD_REQUEST": ".* 400",  # bad requests are sent
    # The specification deprecates getPet, and the date has come.
    "DEPRECATION_PAST": r"GET /v1/pets/\d \d+",
}


def main(url: str, key: str) -> None:
    """Print how many responses and exceptions there are, or exit with the others."""
    found = {note for request in REQUESTS for note in notes_of(url, key, *request)}
    others = [
        (name, subject)
        for name, subject in sorted(found)
        if not re.fullmatch(EXCEPTIONS.get(name, ""), subject)
    ]
    if others or {name for name, _ in found} != EXCEPTIONS.keys():
        sys.exit(f"found {others}, and {found}")
    print(f"{len(REQUESTS)} responses, {len(EXCEPTIONS)} exceptions")


def notes_of(url: str, key: str, method: str, target: str, more: object = None) -> set:
    """Send a request; return the name and the subject of each bad note or warning."""
    headers = {"Host": urlsplit(url).netloc, "Authorization": f"Bearer {key}"}
    body = more if isinstance(more, bytes) else None
    headers |= {"Content-Type": "application/json"} if body else more or {}
    connection = HTTPConnection(headers["Host"])
    connection.request(method, target, body, headers)
    answer = connection.getresponse()
    content = answer.read()
    linter = HttpResponseLinter(start_time=time.time())
    linter.request = HttpRequestLinter(start_time=time.time())
    linter.request.process_request_topline(
        method.encode(), f"{url}{target}".encode(), b"1.1"
    )
    linter.request.process_headers(encoded(headers.items()))
    linter.request.finish_content(True)
    linter.is_head_response = method == "HEAD"
    status = str(answer.status).encode()
    linter.process_response_topline(b"1.1", status, answer.reason.encode())
    linter.process_headers(encoded(answer.getheaders()))
    linter.feed_content(content)
    linter.finish_content(True)
    return {
        (type(each).__name__, f"{method} {target} {answer.status}")
        for note in linter.notes
        for each in (note, *note.subnotes)
        if each.level.value in ("bad", "warning")
    }


def encoded(headers: object) -> list[tuple[bytes, bytes]]:
    """Return headers as bytes."""
    return [(name.encode(), value.encode("latin-1")) for name, value in headers]


if __name__ == "__main__":
    main(*sys.argv[1:])
