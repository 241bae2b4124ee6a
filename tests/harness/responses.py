"""Records responses as they go over the wire, for what looks at all of them.

Importing this module lets the worker, and Flask's test client, write each request with
its response to a file of the directory that a variable names. A response of the test
client is turned into bytes by the worker's code.
"""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from petstore import clock
from petstore.server.connection import Response

DIRECTORY = "TEST_RESPONSES"
HEADERS = {"CONTENT_TYPE": "Content-Type", "CONTENT_LENGTH": "Content-Length"}
MAX_BYTES = 1024 * 1024
send = Response.pieces


def send_recorded(self: Response, application: WSGIApplication) -> Iterator[bytes]:
    """Do what `Response.pieces` does, and write down what was sent."""
    sent = []
    with closing(send(self, application)) as pieces:
        for piece in pieces:
            sent.append(piece)
            yield piece
    write_down(self._environ, b"".join(sent))


def write_down(environ: dict[str, Any], sent: bytes) -> None:
    """Write a line with a request and its response."""
    if len(sent) > MAX_BYTES or "PATH_INFO" not in environ:  # of no application
        return
    path, query = environ["PATH_INFO"], environ["QUERY_STRING"]
    line = {
        "method": environ["REQUEST_METHOD"],
        "target": environ.get("RAW_URI") or path + "?" * bool(query) + query,
        "path": path,
        "query": query,
        "headers": dict(headers_of(environ)),
        "at": clock.now_ms() / clock.MS_PER_SECOND,
        "sent": sent.decode("latin-1"),
    }
    place = Path(os.environ[DIRECTORY]) / f"{os.getpid()}.jsonl"
    with place.open("a") as file:
        file.write(json.dumps(line) + "\n")


def headers_of(environ: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the headers of a request."""
    for name, value in environ.items():
        if name in HEADERS and value:
            yield HEADERS[name], value
        elif name.startswith("HTTP_"):
            yield name[5:].replace("_", "-").title(), str(value)


class RecordingClient(FlaskClient):
    """A test client whose responses are written down."""

    def open(self, *arguments: Any, **options: Any) -> TestResponse:
        """Send a request, and write down the response."""
        response = super().open(*arguments, **options)
        if "buffered" in options:  # the test reads it piece by piece
            return response

        def application(_: object, start: StartResponse) -> Iterable[bytes]:
            start(response.status, response.headers.to_wsgi_list())
            return [response.data]

        sent = Response(response.request.environ, is_last=lambda: False)
        for _ in sent.pieces(application):
            pass
        return response


if DIRECTORY in os.environ:
    Response.pieces = send_recorded
    Flask.test_client_class = RecordingClient
