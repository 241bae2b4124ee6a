"""The log and counts of requests, health and metrics."""

from flask import Flask

from petstore.monitoring import health, metrics, requests


def init_app(app: Flask) -> None:
    requests.init_app(app)
    metrics.init_app(app)
    health.init_app(app)
