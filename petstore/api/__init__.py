"""/v1: the operations for clients, behind a key and a quota."""

from typing import Any

from flask import Flask, Response

from petstore.api import auth, categories, cors, orders, pets, quota
from petstore.settings import Settings
from petstore.web.application import current_request, is_api_path
from petstore.web.limiter import limiter_of
from petstore.web.state import Header
from petstore.web.turns import turns_of


def init_app(app: Flask, settings: Settings) -> None:
    """Identify the caller, count the request, and only then answer it.

    The hooks belong to the application: those of a blueprint do not run for a path or a
    method that the blueprint does not know.
    """
    limiter = limiter_of(app)

    def headers_of_refusal(environ: dict[str, Any]) -> list[Header]:
        figures = limiter.last_known(environ.get("REMOTE_ADDR"))
        return figures.headers() + cors.headers(settings.cors_origins, environ)

    turns_of(app).headers = headers_of_refusal

    @app.before_request
    def admit() -> Response | None:
        request = current_request()
        if not is_api_path(request.path):
            return None
        if request.method == "OPTIONS":
            return cors.answer_options()
        auth.identify(request)
        quota.count(limiter, request)
        # Only after counting, so that guessing keys is counted too.
        auth.require_key(request)
        return None

    @app.after_request
    def add_api_headers(response: Response) -> Response:
        request = current_request()
        if is_api_path(request.path):
            headers = request.state.headers
            headers += quota.headers(limiter, request)
            headers += cors.headers(settings.cors_origins, request.environ)
        return response

    for bp in (pets.bp, orders.bp, categories.bp):
        app.register_blueprint(bp)
