"""Whether what came back over a connection is what this service may say."""

import json
import re
from typing import NamedTuple

STATUS_LINE = re.compile(rb"HTTP/1\.[01] (\d{3}) [ -~]*")
REFUSED = (400, 431)  # before anything of the request is known
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


class Row(NamedTuple):
    """What is sent over one connection, and the ids of its requests."""

    content: bytes
    framed: list[str]  # of requests whose end is certain: they come first
    after: list[str]  # of those that may be a part of what stands before them
    hidden: str  # of what is no request, whoever reads it rightly


def faults_of(row: Row, received: bytes) -> list[str]:
    """What is wrong with the answers to what was sent on one connection."""
    try:
        answers = _answers(received)
        faults = [fault for answer in answers for fault in _faults_of_any(answer)]
        target = API.match(row.content)
        if target and answers:
            faults += _faults_under_v1(target[1].decode(), answers[0])
        faults += _faults_of_order(row, answers)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return [f"cannot be read ({error!r}): {received[:200]!r}"]
    return faults


def _faults_of_order(row: Row, answers: list[Answer]) -> list[str]:
    """Each request that can be read has its own answer, until one ends them all."""
    ids = [answer.headers["x-request-id"] for answer in answers]
    closes = [answer.headers["connection"] == "close" for answer in answers]
    faults = []
    if any(closes[:-1]):
        faults.append("an answer after the last one")
    if closes and closes[-1] and answers[-1].status in REFUSED:
        del ids[-1]  # it has an id of its own
    elif len(ids) < len(row.framed) and not (closes and closes[-1]):
        faults.append(f"{len(ids)} answers to {len(row.framed)} requests")
    if ids[: len(row.framed)] != row.framed[: len(ids)]:
        faults.append(f"{row.framed} were answered as {ids}")
    rest = [i for i in ids[len(row.framed) :] if i in (*row.framed, *row.after)]
    if rest != [i for i in row.after if i in rest] or row.hidden in ids:
        faults.append(f"{row.after} were answered as {ids}")
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
