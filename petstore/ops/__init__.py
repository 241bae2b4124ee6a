"""Beside the API: logs, health, metrics, and what a TLS proxy asks."""

from flask import Flask

from petstore.ops import health, metrics, tls_allowed


def init_app(app: Flask) -> None:
    """Register what needs no key and no quota."""
    metrics.init_app(app)
    app.register_blueprint(health.bp)
    app.register_blueprint(tls_allowed.bp)
