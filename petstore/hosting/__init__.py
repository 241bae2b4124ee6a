"""A project's own hosts: names, DNS records, certificates, and what a proxy asks."""

from flask import Flask

from petstore.hosting import host_routing, tls_allowed
from petstore.settings import Settings


def init_app(app: Flask, settings: Settings) -> None:
    """Let the host name select the project, and tell a TLS proxy which it serves."""
    host_routing.init_app(app, settings)
    app.register_blueprint(tls_allowed.bp)
