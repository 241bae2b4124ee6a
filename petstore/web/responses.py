"""Responses, sent with the headers in the state of the request."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from flask import Flask, Response

from petstore import clock, randomness
from petstore.errors import NO_HEADERS
from petstore.models.credentials import contains_key
from petstore.settings import Settings
from petstore.web.application import Header, RequestState, current_request

# Of what says nothing else itself: caches would choose how long to keep a page or a 404
# (RFC 9111 section 4.2.2).
NO_STORE = ("Cache-Control", "no-store")
REQUEST_ID = "X-Request-ID"
_VALID_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
# Browsers must not take a response for anything but its Content-Type.
NOSNIFF = ("X-Content-Type-Options", "nosniff")
# For a year; subdomains are not included, because they may be other projects' hosts.
TRANSPORT_SECURITY = ("Strict-Transport-Security", "max-age=31536000")
# Of pages: other sites get no window of theirs, no part of them, and no address. With
# `no-referrer`, browsers would send their forms with `Origin: null`.
FOR_PAGES = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
}


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


def init_app(app: Flask, settings: Settings) -> None:
    """Give each request its id and its state, and the headers of every answer."""
    app.response_class = ApplicationResponse
    base_domain = settings.base_domain

    @app.before_request
    def begin() -> None:
        request = current_request()
        request_id = request_id_of(request.environ)
        headers = [(REQUEST_ID, request_id), NOSNIFF]
        request.state = RequestState(request_id, clock.monotonic(), headers)
        # Only a trusted proxy can say that the request came over TLS.
        if request.scheme == "https" and (
            base_domain is None or _is_ours(request.host, base_domain)
        ):
            headers.append(TRANSPORT_SECURITY)


def request_id_of(environ: dict[str, Any]) -> str:
    """Return the id that the client has sent, or a new one in place of a bad one."""
    sent: str = environ.get("HTTP_X_REQUEST_ID", "")
    if _VALID_ID.fullmatch(sent) and not contains_key(sent):
        return sent
    return randomness.source.randbytes(16).hex()


def _is_ours(host: str, base_domain: str) -> bool:
    """Return whether a host is the operator's, and not a customer's own domain."""
    name = host.partition(":")[0].lower().removesuffix(".")
    return f".{name}".endswith(f".{base_domain}")
