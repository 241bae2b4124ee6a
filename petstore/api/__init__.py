"""/v1: the operations for clients, behind a key and a quota."""

from flask import Flask, Response, request

from petstore.api import auth, categories, cors, orders, pets, quota
from petstore.api.paths import IdConverter, is_api_path, undo_stripped_slashes
from petstore.quotas.limiter import Limiter
from petstore.responses import put
from petstore.settings import Settings

MAX_BODY_BYTES = 64 * 1024
# A browser must take no answer for anything but JSON.
NO_SNIFFING = (("X-Content-Type-Options", "nosniff"),)


def init_app(app: Flask, settings: Settings) -> None:
    """Who is calling, how much it may, and only then what it wants.

    The hooks hang on the application, since those of a blueprint do not run for a
    path or a method that it does not know.
    """
    limiter = app.extensions["limiter"] = Limiter(settings)
    allow_origin = cors.origin_rule(settings.cors_origins)

    @app.before_request
    def enter() -> Response | None:
        # Each look through Flask's proxy costs more than what it finds.
        asked = request._get_current_object()
        undo_stripped_slashes(asked)
        if not is_api_path(asked.path):
            return None
        if asked.method == "OPTIONS":
            return cors.answer_options()
        auth.identify(asked)
        quota.count(limiter, asked)
        # Only now, so that guessing keys is counted.
        auth.require_key(asked)
        return None

    @app.after_request
    def leave(response: Response) -> Response:
        asked = request._get_current_object()
        if is_api_path(asked.path):
            response.headers["Cache-Control"] = "no-store"
            put(response, NO_SNIFFING)
            quota.show(limiter, asked, response)
            allow_origin(response)
        return response

    app.config["MAX_CONTENT_LENGTH"] = MAX_BODY_BYTES
    app.url_map.converters["id"] = IdConverter
    for bp in (pets.bp, orders.bp, categories.bp):
        app.register_blueprint(bp)
