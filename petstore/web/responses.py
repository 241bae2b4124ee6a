"""Responses, sent with the headers in the state of the request (see headers.py)."""

from collections.abc import Iterable, Mapping

from flask import Response

from petstore.errors import NO_HEADERS
from petstore.web.application import current_request
from petstore.web.state import Header

# Of what says nothing else itself: caches would choose how long to keep a page or a 404
# (RFC 9111 section 4.2.2).
NO_STORE = ("Cache-Control", "no-store")


class ApplicationResponse(Response):
    """A Flask response that is sent with the headers that hooks have added."""

    def get_wsgi_response(
        self, environ: dict[str, object]
    ) -> tuple[Iterable[bytes], str, list[Header]]:
        """Return body, status and all headers."""
        body, status, headers = super().get_wsgi_response(environ)
        headers += current_request().state.headers
        if NO_STORE[0] not in self.headers:
            headers.append(NO_STORE)
        return body, status, headers


def no_content() -> Response:
    """Return a 204, which has neither a body nor a type of it."""
    response = ApplicationResponse(status=204)
    del response.headers["Content-Type"]
    return response


class JsonResponse(ApplicationResponse):
    """A response with a complete JSON body, which needs no correction."""

    def __init__(
        self, body: bytes, status: int = 200, headers: Mapping[str, str] = NO_HEADERS
    ) -> None:
        super().__init__([body], status, content_type="application/json")
        for name, value in headers.items():
            self.headers.add(name, value)
        self.body = body

    @property
    def content_length(self) -> int:  # type: ignore[override]  # not from a header
        """The length of the body in bytes."""
        return len(self.body)

    def get_wsgi_response(
        self, environ: dict[str, object]
    ) -> tuple[Iterable[bytes], str, list[Header]]:
        """Return body, status and headers without Werkzeug's corrections."""
        headers = [
            *self.headers.to_wsgi_list(),
            ("Content-Length", str(len(self.body))),
            NO_STORE,
            *current_request().state.headers,
        ]
        body = () if environ["REQUEST_METHOD"] == "HEAD" else (self.body,)
        return body, self.status, headers
