"""/dashboard: pages for people, who sign in with a key of their project."""

from flask import Flask

from petstore.dashboard import (
    categories,
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

MENU = (
    ("Overview", "overview.overview"),
    ("Animals", "dashboard_pets.animals"),
    ("Categories", "dashboard_categories.categories"),
    ("Orders", "dashboard_orders.orders"),
    ("Keys", "keys.keys"),
    ("Domains", "domains.domains"),
    ("API reference", "docs.docs"),
)


def init_app(app: Flask, settings: Settings) -> None:
    """Register the pages and what they share."""
    sessions.init_app(app, settings)
    pages.init_app(app, settings)
    app.jinja_env.globals["navigation"] = MENU
    for page in (sign_in, overview, pets, categories, orders, keys, domains):
        app.register_blueprint(page.bp)
