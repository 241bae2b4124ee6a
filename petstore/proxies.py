"""How much of what a proxy says is believed."""

from flask import Flask
from werkzeug.middleware.proxy_fix import ProxyFix

from petstore.settings import Settings


def init_app(app: Flask, settings: Settings) -> None:
    """Take address and scheme from so many trusted proxies; the host from none."""
    trusted = settings.trusted_proxies
    if trusted:
        app.wsgi_app = ProxyFix(
            app.wsgi_app, x_for=trusted, x_proto=trusted, x_host=0, x_port=0, x_prefix=0
        )
