"""Answers whose bytes are known: nothing is looked through on their way out."""

from collections.abc import Iterable, Mapping
from typing import Any

from flask import Response
from werkzeug.datastructures import Headers

Header = tuple[str, str]

NO_HEADERS: dict[str, str] = {}


class JsonResponse(Response):
    """A body of JSON, written as a whole."""

    default_mimetype = None

    def __init__(
        self, body: bytes, status: int = 200, headers: Mapping[str, str] = NO_HEADERS
    ) -> None:
        super().__init__([body], status, Headers())
        kind = ("Content-Type", "application/json")
        put(self, (kind, ("Content-Length", str(len(body))), *headers.items()))

    def get_wsgi_response(
        self, environ: dict[str, Any]
    ) -> tuple[Iterable[bytes], str, list[Header]]:
        """Body, status and headers; Werkzeug would look for headers to mend."""
        body = () if environ["REQUEST_METHOD"] == "HEAD" else self.response
        return body, self.status, self.headers.to_wsgi_list()


def put(response: Response, headers: Iterable[Header]) -> None:
    """Add headers that nobody need look through for line breaks.

    Those that hold something of a caller's have been quoted or matched before.
    """
    response.headers._list.extend(headers)
