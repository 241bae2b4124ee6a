"""/dashboard: pages for people, who sign in with a key of their project."""

from flask import Flask

from petstore.dashboard import (
    activity,
    categories,
    domains,
    home,
    keys,
    open_sessions,
    orders,
    pages,
    pets,
    requests,
    sessions,
    sheets,
    sign_in,
    usage,
)
from petstore.models.grants import FULL, WRITE
from petstore.settings import Settings

# The menu, in its order, by the role that a page takes.
MENU = {
    WRITE: {
        "Home": home,
        "Animals": pets,
        "Orders": orders,
        "Categories": categories,
    },
    FULL: {
        "Keys": keys,
        "Sessions": open_sessions,
        "Domains": domains,
        "Activity": activity,
        "Requests": requests,
        "Usage": usage,
    },
}


def init_app(app: Flask, settings: Settings) -> None:
    sessions.init_app(app, settings)
    pages.init_app(app, settings)
    app.jinja_env.globals["menu"] = [
        (role, {label: page.INDEX for label, page in group.items()})
        for role, group in MENU.items()
    ]
    for page in (sign_in, sheets, *MENU[WRITE].values(), *MENU[FULL].values()):
        app.register_blueprint(page.bp)
    # Compiling these takes 0.1 s. A worker answers nobody meanwhile, so it does this
    # before it serves.
    for template in ("macros.html", "import_question.html", "usage.html"):
        app.jinja_env.get_template(template)
