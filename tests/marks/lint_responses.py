"""Run httplint over recorded responses: `lint_responses.py FILE …`, prints JSON.

It runs in the environment of httplint; nothing else of the tests is imported.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import httplint
from httplint import HttpRequestLinter, HttpResponseLinter


def main() -> None:
    """Print the version, the number of responses, and each note with an example."""
    seen, notes = 0, {}
    for line in lines_of(sys.argv[1:]):
        seen += 1
        for note in notes_of(json.loads(line)):
            notes.setdefault(note, line[:2000])
    found = [
        {"level": level, "name": name, "subject": subject, "example": line}
        for (level, name, subject), line in notes.items()
    ]
    print(json.dumps({"version": httplint.__version__, "seen": seen, "notes": found}))


def lines_of(paths: list[str]) -> Iterator[str]:
    """Yield the lines of all files."""
    for path in paths:
        with Path(path).open() as file:
            yield from file


def notes_of(recorded: dict) -> set[tuple[str, str, str]]:
    """Return level, name and subject of what is noted about a response."""
    linter = linted(recorded)
    subject = f"{recorded['method']} {recorded['path']} {linter.status_code}"
    return {
        (each.level.value, type(each).__name__, subject)
        for note in linter.notes
        for each in (note, *note.subnotes)
    }


def linted(recorded: dict) -> HttpResponseLinter:
    """Return the linter that has seen a response, and its request."""
    request = HttpRequestLinter(start_time=recorded["at"])
    target = f"http://{recorded['headers'].get('Host', 'x')}{recorded['target']}"
    request.process_request_topline(
        recorded["method"].encode(), target.encode(), b"1.1"
    )
    request.process_headers(encoded(recorded["headers"].items()))
    request.finish_content(True)
    head, _, body = recorded["sent"].encode("latin-1").partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    version, status, phrase = first.split(b" ", 2)
    response = HttpResponseLinter(start_time=recorded["at"])
    response.request = request
    response.is_head_response = recorded["method"] == "HEAD"
    response.process_response_topline(version.removeprefix(b"HTTP/"), status, phrase)
    headers = [tuple(line.split(b": ", 1)) for line in lines]
    response.process_headers(headers)
    if (b"Transfer-Encoding", b"chunked") in headers:
        body = b"".join(chunks_of(body))
    response.feed_content(body)
    response.finish_content(True)
    return response


def encoded(headers: object) -> list[tuple[bytes, bytes]]:
    """Return headers as bytes."""
    return [(name.encode(), value.encode()) for name, value in headers]


def chunks_of(body: bytes) -> Iterator[bytes]:
    """Yield the chunks of a body."""
    while body:
        size, _, rest = body.partition(b"\r\n")
        length = int(size, 16)
        yield rest[:length]
        body = rest[length:].removeprefix(b"\r\n")


if __name__ == "__main__":
    main()
