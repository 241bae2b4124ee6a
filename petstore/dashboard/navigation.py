"""The addresses under /dashboard, and redirects."""

from typing import Any

from flask import flash, get_flashed_messages, redirect, url_for
from werkzeug.wrappers import Response

PREFIX = "/dashboard"
STATIC = f"{PREFIX}/static/"
MAX_MESSAGE_LENGTH = 300  # a message is kept in the cookie, which may have 4 KB


def is_dashboard_path(path: str) -> bool:
    """Return whether a path belongs to the dashboard, known or not."""
    return path == PREFIX or path.startswith(f"{PREFIX}/")


def go_to(
    endpoint: str, message: str = "", kind: str = "good", **arguments: Any
) -> Response:
    """Redirect to a page, which shows the message."""
    if message:
        get_flashed_messages()  # drops those that no page has shown
        flash(message[:MAX_MESSAGE_LENGTH], kind)
    return redirect(url_for(endpoint, **arguments), 303)
