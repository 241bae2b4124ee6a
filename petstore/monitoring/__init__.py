"""The counts of requests, and metrics."""

from flask import Flask

from petstore.monitoring import metrics, requests


def init_app(app: Flask) -> None:
    requests.init_app(app)
    metrics.init_app(app)
