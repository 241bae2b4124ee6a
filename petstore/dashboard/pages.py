"""What every page has in common: who may see it, and how browsers must treat it."""

from flask import Blueprint, Flask, Response, current_app

from petstore.clock import rfc3339
from petstore.dashboard import csrf, sessions, words
from petstore.dashboard.navigation import navigation
from petstore.dashboard.paths import PREFIX

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; "
        "img-src 'self' data:; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def init_app(app: Flask) -> None:
    """Give the templates their words."""
    csrf.init_app(app)
    app.jinja_env.globals["navigation"] = navigation
    app.jinja_env.filters |= {
        "date": words.date,
        "day": words.day,
        "duration": words.duration,
        "number": words.number,
        "rfc3339": rfc3339,
        "time": words.time,
    }


def pages(name: str, module: str, path: str, *, is_public: bool = False) -> Blueprint:
    """A blueprint of pages at a path below /dashboard.

    Its views run for people who are signed in (`g.caller`, `g.project`), and its forms
    only with a token.
    """
    bp = Blueprint(name, module, url_prefix=f"{PREFIX}{path}")
    bp.before_request(_load_secret)
    if not is_public:
        bp.before_request(sessions.require)
    bp.before_request(csrf.check)
    bp.after_request(protect)
    return bp


def protect(response: Response) -> Response:
    """Tell the browser what a page may do: load from here alone, be kept nowhere."""
    response.headers.update(HEADERS)
    return response


def _load_secret() -> None:
    sessions.load_secret(current_app)
