"""Style sheets, script and picture of the pages."""

import hashlib
from functools import cache
from pathlib import Path

from flask import Blueprint, Flask, Response, url_for

from petstore.dashboard.navigation import PREFIX

MAX_AGE_SECONDS = 31_536_000  # a changed file has another URL

_DIRECTORY = Path(__file__).parent / "static"

bp = Blueprint(
    "dashboard",
    __name__,
    url_prefix=PREFIX,
    template_folder="templates",
    static_folder="static",
)


def init_app(app: Flask) -> None:
    """Serve the files, and give templates their URLs."""
    app.jinja_env.globals["asset"] = _url
    app.register_blueprint(bp)


@bp.after_request
def _cache(response: Response) -> Response:
    response.headers["X-Content-Type-Options"] = "nosniff"
    if response.status_code == 200:
        response.headers["Cache-Control"] = (
            f"public, max-age={MAX_AGE_SECONDS}, immutable"
        )
    return response


def _url(name: str) -> str:
    return url_for("dashboard.static", filename=name, v=_version(name))


@cache
def _version(name: str) -> str:
    return hashlib.sha256((_DIRECTORY / name).read_bytes()).hexdigest()[:12]
