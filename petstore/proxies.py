"""Reverse proxies: how many are trusted, and what is hidden from their clients."""

import re
from collections.abc import Callable, Iterable
from typing import Any
from wsgiref.types import WSGIApplication

from flask import Flask, abort, request
from werkzeug.middleware.proxy_fix import ProxyFix

from petstore.settings import Settings

# Some proxies add the client's port: 192.0.2.1:5678 or [2001:db8::1]:443.
_WITH_PORT = re.compile(r"([0-9.]+):[0-9]+|\[([0-9A-Fa-f:.]+)\](:[0-9]+)?")


def init_app(app: Flask, settings: Settings) -> None:
    """Take address and scheme from the trusted proxies, and the host from none."""
    trusted = settings.trusted_proxies
    if trusted:
        wrapped = ProxyFix(
            _without_ports(app.wsgi_app),
            x_for=trusted,
            x_proto=trusted,
            x_host=0,
            x_port=0,
            x_prefix=0,
        )
        # Flask's documentation adds a middleware like this; mypy sees a method.
        app.wsgi_app = wrapped  # type: ignore[method-assign]


def require_direct_client() -> None:
    """Answer 404 to a request that came through a proxy."""
    if "X-Forwarded-For" in request.headers:
        abort(404)


def address_without_port(text: str) -> str:
    """Return the address of a client without the port that may follow it."""
    parts = _WITH_PORT.fullmatch(text)
    return parts[1] or parts[2] if parts else text


def _without_ports(application: WSGIApplication) -> WSGIApplication:
    def respond(
        environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        address = environ.get("REMOTE_ADDR", "")
        environ["REMOTE_ADDR"] = address_without_port(address)
        return application(environ, start_response)

    return respond
