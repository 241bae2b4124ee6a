"""Reverse proxies: how many are trusted, and what is hidden from their clients."""

import ipaddress
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit
from wsgiref.types import StartResponse

from flask import Flask, abort, current_app, request

from petstore.events import emit
from petstore.settings import Settings

# Some proxies add the client's port: 192.0.2.1:5678 or [2001:db8::1]:443.
_WITH_PORT = re.compile(r"([0-9.]+):[0-9]+|\[([0-9A-Fa-f:.]+)\](:[0-9]+)?")
# Names that nobody can register (RFC 6761, RFC 6762; ICANN has reserved .internal).
INTERNAL = (".internal", ".local", ".localhost")
UNKNOWN = "unknown"  # a client whose proxy has sent no address


def init_app(app: Flask, settings: Settings) -> None:
    """Take address and scheme from the trusted proxies, and the host from none.

    Werkzeug's ProxyFix takes an address that it cannot read, like a quotation mark, for
    a missing one, and the proxy for the client.
    """
    application, proxies = app.wsgi_app, settings.trusted_proxies
    has_warned = False
    app.config["BASE_DOMAIN"] = settings.base_domain

    def respond(
        environ: dict[str, Any], start_response: StartResponse
    ) -> Iterable[bytes]:
        nonlocal has_warned
        if proxies:
            _trust(environ, proxies)
        elif "HTTP_X_FORWARDED_FOR" in environ and not has_warned:
            has_warned = _warn(environ.get("REMOTE_ADDR", ""))
        return application(environ, start_response)

    # Flask's documentation adds a middleware like this; mypy sees a method.
    app.wsgi_app = respond  # type: ignore[method-assign]


def require_direct_client() -> None:
    """Answer 404 to a request that came through a proxy, or under a public name.

    A page could otherwise read it in the browser of somebody who reaches the service,
    once the name of the page leads to the service (DNS rebinding).
    """
    if "X-Forwarded-For" in request.headers or not _is_internal(request.host):
        abort(404)


def _is_internal(host: str) -> bool:
    """Return whether only the network of the service decides where a host leads."""
    name = urlsplit(f"//{host}").hostname or ""
    if name == current_app.config["BASE_DOMAIN"] or name.endswith(INTERNAL):
        return True
    return "." not in name or is_address(name)


def _trust(environ: dict[str, Any], proxies: int) -> None:
    """Set the address and the scheme that the proxies have sent."""
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
    return address if is_address(address) else UNKNOWN


def _warn(peer: str) -> bool:
    """Log that requests come from a proxy although none is trusted, if they do."""
    is_proxy = is_private(peer)
    if is_proxy:
        emit(
            "proxy_not_trusted",
            address=peer,
            hint="all its clients count as one; set PETSTORE_TRUSTED_PROXIES",
        )
    return is_proxy


def is_address(text: str) -> bool:
    """Return whether a text is an IP address."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def is_private(address: str) -> bool:
    """Return whether an address is one of a private network or of this machine."""
    try:
        return ipaddress.ip_address(address).is_private
    except ValueError:
        return False
