"""The headers that are added to answers, written in one place.

Hooks and decorators append to `headers` of the request's state. Werkzeug checks and
copies each header that is added to a response, which took a tenth of a request.
"""

import re
from typing import Any

from flask import Flask

from petstore import randomness
from petstore.models.credentials import contains_key
from petstore.settings import Settings
from petstore.web.application import current_request
from petstore.web.responses import ApplicationResponse

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


def init_app(app: Flask, settings: Settings) -> None:
    """Begin with the headers that every answer has; the log has set the id."""
    app.response_class = ApplicationResponse
    base_domain = settings.base_domain

    @app.before_request
    def begin() -> None:
        request = current_request()
        state = request.state
        state.headers = [(REQUEST_ID, state.request_id), NOSNIFF]
        # Only a trusted proxy can say that the request came over TLS.
        if request.scheme == "https" and (
            base_domain is None or _is_ours(request.host, base_domain)
        ):
            state.headers.append(TRANSPORT_SECURITY)


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
