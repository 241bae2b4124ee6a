"""Which parts of the interface description the tests exercise.

A part is an operation, a parameter that is accepted, one that is refused, a status, a
code that an error with such a status has, or a header of such a response. They are
counted here and not by tracecov, whose licence does not let its output be shown to
others.
"""

import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterator

from petstore import create_app
from petstore.settings import read_settings
from tests.marks.page import Mark
from tests.marks.recorded import files

Part = tuple[str, ...]  # its kind, the operation, and its own names
# A project's other hosts redirect each request, whatever its operation.
UNDESCRIBED = {"301"}


class Operation:
    """An operation of the description."""

    def __init__(self, path: str, method: str, members: dict) -> None:
        self.id, self._members = members["operationId"], members
        pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>[0-9]+)", path)
        self._target = re.compile(f"{method.upper()} /v1{pattern}")

    def described(self, shared: dict) -> Iterator[Part]:
        """Yield the parts of the operation, which refers to shared responses."""
        yield "operations", self.id
        for parameter in self._members["parameters"]:
            yield "accepted parameters", self.id, parameter["name"]
            if parameter["in"] != "path":  # it is no such path otherwise
                yield "refused parameters", self.id, parameter["name"]
        for status, response in self._members["responses"].items():
            yield "statuses", self.id, status
            reference = response.get("$ref", "").rpartition("/")[2]
            told = shared.get(reference, response)
            for header in told["headers"]:
                yield "headers", self.id, status, header
            content = told.get("content", {})
            if status >= "400":
                for code in content["application/json"]["examples"]:
                    yield "codes", self.id, status, code

    def seen(self, exchange: dict) -> Iterator[Part]:
        """Yield the parts that a request and its response have."""
        method = exchange["method"].replace("HEAD", "GET")
        target = self._target.fullmatch(f"{method} {exchange['path']}")
        if target is None:
            return
        head, _, body = exchange["sent"].partition("\r\n\r\n")
        status_line, *headers = head.split("\r\n")
        status = status_line.split(" ")[1]
        yield "operations", self.id
        yield "statuses", self.id, status
        for header in headers:
            yield "headers", self.id, status, header.partition(":")[0]
        sent = re.findall("([^&=]+)=", exchange["query"])
        if status < "300":
            for name in (*target.groupdict(), *sent, *exchange["headers"]):
                yield "accepted parameters", self.id, name
        elif status >= "400" and body:
            error = json.loads(body)
            yield "codes", self.id, status, error["code"]
            for name in re.findall(r"([\w-]+):", error["message"]):
                yield "refused parameters", self.id, name


def mark() -> Mark:
    """Find each part of the description in what was sent and answered."""
    document = description()
    operations = [
        Operation(path, method, members)
        for path, methods in document["paths"].items()
        for method, members in methods.items()
    ]
    shared = document["components"]["responses"]
    described = {part for each in operations for part in each.described(shared)}
    seen = {
        part
        for exchange in exchanges()
        for operation in operations
        for part in operation.seen(exchange)
    }
    assert not described - seen, sorted(described - seen)
    answered = {part for part in seen if part[0] in ("statuses", "codes")}
    others = {part for part in answered - described if part[2] not in UNDESCRIBED}
    assert not others, sorted(others)
    kinds = Counter(kind for kind, *_ in described)
    return Mark(
        checked="which parts of `/openapi.json` the tests cause",
        tool="`tests/marks/description.py`",
        result="all: " + ", ".join(f"{kinds[kind]} {kind}" for kind in sorted(kinds)),
        changed="tests cause 413, 421, 429, 500 and 503 for each operation; the "
        "description lost headers of a 409 that no response had",
    )


def description() -> dict:
    """Return the interface description."""
    with tempfile.TemporaryDirectory() as name:
        settings = read_settings({"DATABASE_URL": f"sqlite:///{name}/unused.db"})
        return create_app(settings).test_client().get("/openapi.json").json


def exchanges() -> Iterator[dict]:
    """Yield each request with its response."""
    for path in files():
        with path.open() as file:
            yield from map(json.loads, file)
