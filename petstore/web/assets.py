"""Static files of pages: browsers keep them, because a changed file has another URL."""

import hashlib
from functools import cache
from pathlib import Path

from flask import Blueprint, Flask, current_app, url_for

MAX_AGE_SECONDS = 31_536_000

bp = Blueprint("shared", __name__, static_folder="static", static_url_path="/static")


def init_app(app: Flask) -> None:
    """Serve the theme that all pages share, and give templates the URLs of files."""
    app.config["SEND_FILE_MAX_AGE_DEFAULT"] = MAX_AGE_SECONDS
    app.jinja_env.globals["asset"] = _url
    app.register_blueprint(bp)


def _url(owner: str, name: str) -> str:
    """Return the URL of a static file of the blueprint `owner`."""
    directory = current_app.blueprints[owner].static_folder
    version = _version(Path(directory or "", name))
    return url_for(f"{owner}.static", filename=name, v=version)


@cache
def _version(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:12]
