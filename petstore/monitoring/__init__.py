"""What watches the service: logs, health and metrics."""

from flask import Flask

from petstore.monitoring import health, metrics, notes


def init_app(app: Flask) -> None:
    """Register what needs no key and no quota."""
    metrics.init_app(app)
    notes.init_app(app)
    app.register_blueprint(health.bp)
