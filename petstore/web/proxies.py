"""Reverse proxies: how many are trusted, and what is hidden from their clients."""

import ipaddress
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any
from wsgiref.types import StartResponse

from flask import Flask, abort, request

from petstore.settings import Settings

# Some proxies add the client's port: 192.0.2.1:5678 or [2001:db8::1]:443.
_WITH_PORT = re.compile(r"([0-9.]+):[0-9]+|\[([0-9A-Fa-f:.]+)\](:[0-9]+)?")
# Those of this machine and of networks that the internet does not reach.
PRIVATE_NETWORKS = [
    ipaddress.ip_network(network)
    for network in (
        *("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
        *("100.64.0.0/10", "169.254.0.0/16", "::1/128", "fe80::/10", "fc00::/7"),
    )
]
UNKNOWN = "unknown"  # a client whose proxy has sent no address


def init_app(app: Flask, settings: Settings) -> None:
    """Take address and scheme from the trusted proxies, and the host from none.

    Werkzeug's ProxyFix is not used: if it cannot read the client's address, it takes
    that of the proxy.
    """
    application, proxies = app.wsgi_app, settings.trusted_proxies

    def respond(
        environ: dict[str, Any], start_response: StartResponse
    ) -> Iterable[bytes]:
        _trust(environ, proxies)
        return application(environ, start_response)

    if proxies:
        # Flask's documentation adds a middleware like this; mypy sees a method.
        app.wsgi_app = respond  # type: ignore[method-assign]


def require_private_client() -> None:
    """Answer 404 to a request that came through a proxy, or from another network."""
    if "X-Forwarded-For" in request.headers or not is_private(request.remote_addr):
        abort(404)


def _trust(environ: dict[str, Any], proxies: int) -> None:
    address = _entry(environ.get("HTTP_X_FORWARDED_FOR"), proxies)
    if address is not None:
        environ["REMOTE_ADDR"] = _client_address(address)
    scheme = _entry(environ.get("HTTP_X_FORWARDED_PROTO"), proxies)
    # A proxy that does not set the header passes on what the client has sent.
    if scheme in ("http", "https"):
        environ["wsgi.url_scheme"] = scheme


def _entry(header: str | None, number: int) -> str | None:
    """Return the entry with this number of a header, counted from its end."""
    entries = [] if header is None else header.rsplit(",", number)
    if len(entries) < number:
        return None
    return entries[-number].strip(" \t")


def _client_address(entry: str) -> str:
    with_port = _WITH_PORT.fullmatch(entry)
    address = with_port[1] or with_port[2] if with_port else entry
    parsed = _parsed(address)
    # ::ffff:192.0.2.1 stands for 192.0.2.1.
    return str(getattr(parsed, "ipv4_mapped", None) or address) if parsed else UNKNOWN


def is_private(address: str | None) -> bool:
    """Return whether an address is a private one; that of a Unix socket is empty."""
    parsed = _parsed(address or "::1")
    return parsed is not None and any(parsed in each for each in PRIVATE_NETWORKS)


def _parsed(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    with suppress(ValueError):
        return ipaddress.ip_address(text)
    return None
