"""/dashboard: pages for people, who sign in with a key of their project."""

from flask import Flask

from petstore.dashboard import (
    activity,
    categories,
    domains,
    keys,
    open_sessions,
    orders,
    overview,
    pages,
    pets,
    requests,
    sessions,
    sheets,
    sign_in,
)
from petstore.settings import Settings

# The menu, in its order.
PAGES = {
    "Overview": overview,
    "Animals": pets,
    "Categories": categories,
    "Orders": orders,
    "Requests": requests,
    "Keys": keys,
    "Sessions": open_sessions,
    "Domains": domains,
    "Activity": activity,
}


def init_app(app: Flask, settings: Settings) -> None:
    sessions.init_app(app, settings)
    pages.init_app(app, settings)
    menu = [(label, page.INDEX, page.bp.takes) for label, page in PAGES.items()]
    app.jinja_env.globals["navigation"] = menu
    for page in (sign_in, sheets, *PAGES.values()):
        app.register_blueprint(page.bp)
