"""Counts every request under /v1, strangers too, and shows the figures."""

from flask import Flask, Response, g, request

from petstore.api.auth import require_key
from petstore.api.paths import is_api_request
from petstore.errors import KeyBanned, RateLimitExceeded
from petstore.quotas.headers import render
from petstore.quotas.limiter import Limiter
from petstore.quotas.windows import Decision
from petstore.settings import Settings


def init_app(app: Flask, settings: Settings) -> None:
    """Count before the view, and put the figures on every answer."""
    limiter = app.extensions["limiter"] = Limiter(settings)

    @app.before_request
    def count() -> None:
        if not is_api_request():
            return
        g.decision = limiter.take(g.caller, request.remote_addr)
        if not g.decision.is_granted:
            raise _refusal(g.decision)
        # Only now, so that guessing keys is counted.
        require_key()

    @app.after_request
    def show(response: Response) -> Response:
        if is_api_request():
            # Before the caller is known, the address stands for it, uncounted.
            decision = g.get("decision") or limiter.look(request.remote_addr)
            response.headers.update(render(decision))
        return response


def _refusal(decision: Decision) -> RateLimitExceeded | KeyBanned:
    seconds = decision.retry_after_seconds
    headers = {"Retry-After": str(seconds)}
    if decision.is_banned:
        return KeyBanned(
            "This API key is banned for a while, for going on after 429; "
            f"wait {seconds} seconds.",
            headers,
        )
    return RateLimitExceeded(
        f"The plan's limit is reached; wait {seconds} seconds.", headers
    )
