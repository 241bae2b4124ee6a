"""/v1: the operations for clients, behind a key and a quota."""

from flask import Flask

from petstore.api import auth, categories, cors, orders, pets, quota
from petstore.api.paths import IdConverter
from petstore.settings import Settings

MAX_BODY_BYTES = 64 * 1024


def init_app(app: Flask, settings: Settings) -> None:
    """Who is calling, how much it may, and only then what it wants."""
    cors.init_app(app, settings)
    auth.init_app(app)
    quota.init_app(app, settings)
    app.config["MAX_CONTENT_LENGTH"] = MAX_BODY_BYTES
    app.url_map.converters["id"] = IdConverter
    app.register_blueprint(pets.bp)
    app.register_blueprint(orders.bp)
    app.register_blueprint(categories.bp)
