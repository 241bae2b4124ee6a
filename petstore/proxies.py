"""How much of what a proxy says is believed."""

import re
from collections.abc import Callable, Iterable
from typing import Any

from flask import Flask
from werkzeug.middleware.proxy_fix import ProxyFix

from petstore.settings import Settings

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

# Some proxies write the port of the client, too: 192.0.2.1:5678 or [2001:db8::1]:443.
_WITH_PORT = re.compile(r"([0-9.]+):[0-9]+|\[([0-9A-Fa-f:.]+)\](:[0-9]+)?")


def init_app(app: Flask, settings: Settings) -> None:
    """Take address and scheme from so many trusted proxies; the host from none."""
    trusted = settings.trusted_proxies
    if trusted:
        app.wsgi_app = ProxyFix(
            _without_ports(app.wsgi_app),
            x_for=trusted,
            x_proto=trusted,
            x_host=0,
            x_port=0,
            x_prefix=0,
        )


def plain_address(text: str) -> str:
    """An address of a client without the port that may follow it."""
    parts = _WITH_PORT.fullmatch(text)
    return parts[1] or parts[2] if parts else text


def _without_ports(application: Application) -> Application:
    def answer(
        environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        environ["REMOTE_ADDR"] = plain_address(environ.get("REMOTE_ADDR", ""))
        return application(environ, start_response)

    return answer
