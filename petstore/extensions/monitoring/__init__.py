"""The counts of requests, by Prometheus and for projects, and what has failed."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # gunicorn's master imports this package, and must not import Flask
    from flask import Flask

    from petstore.settings import Settings


def init_app(app: "Flask", settings: "Settings") -> None:
    from petstore.extensions.monitoring import metrics, requests

    requests.init_app(app)
    metrics.init_app(app)
