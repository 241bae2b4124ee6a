"""Beside the API: logs, health and metrics for operators."""

from flask import Flask

from petstore.ops import health, metrics, tls


def init_app(app: Flask) -> None:
    """Register what needs no key and no quota."""
    metrics.init_app(app)
    app.register_blueprint(health.bp)
    app.register_blueprint(tls.bp)
