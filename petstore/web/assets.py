"""Static files of pages: browsers keep them, because a changed file has another URL."""

import hashlib
from functools import cache
from pathlib import Path

from flask import Blueprint, Flask, Response, current_app, request, url_for

from petstore.web.application import serve_on_every_host

MAX_AGE_SECONDS = 31_536_000
FAVICON = (Path(__file__).parent / "static/favicon.ico").read_bytes()
FAVICON_SECONDS = 86_400  # its URL is always the same


class AssetBlueprint(Blueprint):
    """A blueprint whose static files browsers keep, if the URL names their version.

    During an update, a browser may ask this release for a file of another one, and must
    not keep what it gets.
    """

    def get_send_file_max_age(self, filename: str | None) -> int | None:
        """Return how long a browser keeps the file; None if it has to ask each time."""
        version = _versions(self.static_folder or "").get(filename or "")
        is_own = version and request.args.get("v") == version
        return MAX_AGE_SECONDS if is_own else None


bp = AssetBlueprint(
    "shared",
    __name__,
    static_folder="static",
    static_url_path="/static",
    template_folder="templates",
)


def init_app(app: Flask) -> None:
    """Serve what all pages share, and give templates the URLs of files."""
    app.jinja_env.globals["asset"] = _url
    app.register_blueprint(bp)
    serve_on_every_host(app, "/static", "/favicon.ico")
    app.add_url_rule("/favicon.ico", view_func=favicon)


def favicon() -> Response:
    """Return the paw, for browsers that ask for it without looking at a page."""
    kept = {"Cache-Control": f"public, max-age={FAVICON_SECONDS}"}
    return Response(FAVICON, headers=kept, mimetype="image/x-icon")


def _url(owner: str, name: str) -> str:
    """Return the URL of a static file of the blueprint `owner`."""
    directory = current_app.blueprints[owner].static_folder
    return url_for(f"{owner}.static", filename=name, v=_versions(directory or "")[name])


@cache
def _versions(directory: str) -> dict[str, str]:
    files = [file for file in Path(directory).rglob("*") if file.is_file()]
    return {file.relative_to(directory).as_posix(): _version(file) for file in files}


def _version(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:12]
