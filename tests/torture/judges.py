"""Whether what came back over a connection is what this service may say."""

import json
import re
from typing import NamedTuple

STATUS_LINE = re.compile(rb"HTTP/1\.[01] (\d{3}) [ -~]*")
FIGURES = ("x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset")
API = re.compile(rb"[A-Z]+ (/v1(?:[/?][!-~]*)?) HTTP/1\.[01]\r\n")
SHAPES = {
    "/v1/pets": {"id", "name", "categoryId", "status"},
    "/v1/store/orders": {"id", "petId", "status", "createdAt", "updatedAt"},
    "/v1/categories": {"id", "name"},
}


class Answer(NamedTuple):
    """One answer, as it was read off the wire."""

    status: int
    headers: dict[str, str]
    body: bytes


def faults_of(sent: bytes, received: bytes) -> list[str]:
    """What is wrong with the answers to what was sent on one connection."""
    try:
        answers = _answers(received)
        faults = [fault for answer in answers for fault in _faults_of_any(answer)]
        target = API.match(sent)
        if target and answers:
            faults += _faults_under_v1(target[1].decode(), answers[0])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return [f"cannot be read ({error!r}): {received[:200]!r}"]
    return faults


def _answers(received: bytes) -> list[Answer]:
    answers = []
    while received:
        head, _, rest = received.partition(b"\r\n\r\n")
        first, *lines = head.split(b"\r\n")
        status = int(STATUS_LINE.fullmatch(first)[1])
        if status == 100:
            received = rest
            continue
        headers = dict(line.decode("latin-1").split(": ", 1) for line in lines)
        headers = {name.lower(): value for name, value in headers.items()}
        length = int(headers.get("content-length", 0))
        # Nothing follows the head of an answer to HEAD but the next answer.
        if not rest or rest.startswith(b"HTTP/1."):
            length = 0
        if len(rest) < length:
            raise ValueError("the body is too short")
        answers.append(Answer(status, headers, rest[:length]))
        received = rest[length:]
    return answers


def _faults_of_any(answer: Answer) -> list[str]:
    faults = []
    if answer.status >= 500:
        faults.append(f"status {answer.status}")
    if "x-request-id" not in answer.headers:
        faults.append(f"{answer.status} without an id")
    is_json = answer.headers.get("content-type") == "application/json"
    if answer.status >= 400 and is_json and answer.body:
        error = json.loads(answer.body)
        if set(error) != {"code", "message", "status"}:
            faults.append(f"{answer.status} with {set(error)}")
        if error["status"] != answer.status:
            faults.append(f"{answer.status} says {error['status']}")
    return faults


def _faults_under_v1(target: str, answer: Answer) -> list[str]:
    faults = [
        f"{answer.status} without {name}"
        for name in FIGURES
        if name not in answer.headers and answer.status != 204
    ]
    if answer.body and answer.headers.get("content-type") != "application/json":
        faults.append(f"{answer.status} in {answer.headers.get('content-type')}")
    if answer.body and answer.status < 300:
        found = json.loads(answer.body)
        shape = next(SHAPES[place] for place in SHAPES if target.startswith(place))
        for item in found if isinstance(found, list) else [found]:
            if set(item) != shape:
                faults.append(f"{target} answered {set(item)}")
    return faults
