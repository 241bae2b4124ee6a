"""/dashboard: pages for people, who sign in with a key of their project."""

from flask import Flask

from petstore.dashboard import (
    assets,
    domains,
    keys,
    orders,
    overview,
    pages,
    pets,
    sessions,
    sign_in,
)
from petstore.settings import Settings


def init_app(app: Flask, settings: Settings) -> None:
    """Register the pages and what they share."""
    sessions.init_app(app, settings)
    pages.init_app(app)
    assets.init_app(app)
    for page in (sign_in, overview, pets, orders, keys, domains):
        app.register_blueprint(page.bp)
