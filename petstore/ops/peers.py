"""What only those beside the service may see."""

from flask import abort, request


def require_direct_peer() -> None:
    """Let what came through a proxy find nothing."""
    if "X-Forwarded-For" in request.headers:
        abort(404)
