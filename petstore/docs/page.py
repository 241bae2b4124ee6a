"""/docs: the API reference as a page, with Swagger UI served from here."""

from pathlib import Path
from urllib.parse import urlsplit

import flask_swagger_ui
from flask import (
    Blueprint,
    Flask,
    Response,
    current_app,
    make_response,
    redirect,
    render_template,
    send_from_directory,
    url_for,
)

from petstore.settings import Settings

SWAGGER_UI = Path(flask_swagger_ui.__file__).parent / "dist"
MAX_AGE_SECONDS = 86_400

bp = Blueprint(
    "docs",
    __name__,
    url_prefix="/docs",
    template_folder="templates",
    static_folder="static",
)


def init_app(app: Flask, settings: Settings) -> None:
    """Let the page load its parts from here alone, and call the API alone."""
    bases = (settings.production_url, settings.staging_url)
    api_origins = " ".join(["'self'", *map(_origin, filter(None, bases))])
    app.config["DOCS_SECURITY_POLICY"] = (
        "default-src 'none'; script-src 'self'; style-src 'self'; "
        f"img-src 'self' data:; connect-src {api_origins}; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    app.register_blueprint(bp)
    app.add_url_rule("/", view_func=home)


def home() -> Response:
    """Redirect a person who knows only the host to the page."""
    return make_response(redirect(url_for("docs.docs"), 303))


@bp.get("")
def docs() -> str:
    """Return the page."""
    return render_template("docs.html")


@bp.get("/swagger-ui/<name>")
def swagger_ui(name: str) -> Response:
    """Return a file of Swagger UI."""
    return send_from_directory(SWAGGER_UI, name, max_age=MAX_AGE_SECONDS)


@bp.after_request
def _add_security_headers(response: Response) -> Response:
    policy = current_app.config["DOCS_SECURITY_POLICY"]
    response.headers["Content-Security-Policy"] = policy
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
