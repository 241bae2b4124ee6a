"""The limiter of the application."""

from flask import Flask

from petstore.quotas.limiter import Limiter
from petstore.settings import Settings


def init_app(app: Flask, settings: Settings) -> None:
    """Make the limiter, which connects when it is first used."""
    app.extensions["limiter"] = Limiter(settings)


def limiter_of(app: Flask) -> Limiter:
    limiter: Limiter = app.extensions["limiter"]
    return limiter
