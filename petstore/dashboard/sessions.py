"""Who looks at the pages: a signed cookie with a token that names a session."""

from contextlib import suppress
from datetime import timedelta

import peewee
from flask import (
    Flask,
    Request,
    Response,
    current_app,
    flash,
    g,
    redirect,
    request,
    session,
    url_for,
)
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface

from petstore.dashboard.paths import PREFIX, is_dashboard_path
from petstore.dashboard.words import duration
from petstore.errors import RateLimitExceeded
from petstore.models.callers import Caller
from petstore.models.projects import Project
from petstore.models.secrets import Secret
from petstore.models.sessions import LASTS_MS, Session, digest_of
from petstore.settings import Settings

TOKEN = "token"  # noqa: S105 (the member of the cookie that names the session)
OVER = (
    "Your session is over: you signed out, it is twelve hours old, "
    "or its key was revoked, banned or has ended."
)


def init_app(app: Flask, settings: Settings) -> None:
    """Keep sessions in a cookie that only the pages see."""
    app.session_interface = DashboardSessions()
    app.config.update(
        SECRET_KEY=settings.secret_key,
        SESSION_COOKIE_NAME="petstore_session",
        SESSION_COOKIE_PATH=PREFIX,
        # Strict would hide the session from a visit that begins on another site, and
        # the form that is shown instead would overwrite it.
        SESSION_COOKIE_SAMESITE="Lax",
        PERMANENT_SESSION_LIFETIME=timedelta(milliseconds=LASTS_MS),
    )


class DashboardSessions(SecureCookieSessionInterface):
    """Sessions under /dashboard; other requests have none and pay for none."""

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        """The session of a request for a page."""
        if not is_dashboard_path(request.path):
            return None
        # Nothing can be answered yet: the hooks of the page will meet the outage again.
        with suppress(peewee.DatabaseError):
            load_secret(app)
        return super().open_session(app, request) or SecureCookieSession()

    def get_cookie_secure(self, app: Flask) -> bool:
        """Whether the cookie is for TLS alone: wherever the request came over it."""
        return request.is_secure


def load_secret(app: Flask) -> None:
    """Take the signing secret that all hosts share, where the settings hold none."""
    if app.secret_key is None:
        app.secret_key = Secret.shared("sessions")


def start(caller: Caller) -> None:
    """Sign in the holder of a key; a session of the same browser ends."""
    end()
    session[TOKEN] = Session.begin(caller)


def end() -> None:
    """Sign out, for every copy of the cookie."""
    if TOKEN in session:
        Session.end(session[TOKEN])
    session.clear()


def require() -> Response | None:
    """Let those in who are signed in, and send others to do so."""
    caller = _holder(session[TOKEN]) if TOKEN in session else None
    if caller is None or caller.is_banned:
        return _turn_away()
    g.project = Project.get_by_id(caller.project_id)
    g.caller = caller
    return None


def _holder(token: str) -> Caller | None:
    _count(token)
    return at_home(Session.holder(token))


def _count(token: str) -> None:
    asked = current_app.extensions["limiter"].take_page(digest_of(token))
    if not asked.is_granted:
        seconds = asked.retry_after_seconds
        raise RateLimitExceeded(
            f"You have asked for too many pages; wait {duration(seconds)}.",
            {"Retry-After": str(seconds)},
        )


def at_home(caller: Caller | None) -> Caller | None:
    """The caller, unless the host of the request is another project's."""
    if caller and g.get("host_project_id") in (None, caller.project_id):
        return caller
    return None


def _turn_away() -> Response:
    if TOKEN in session:
        end()
        flash(OVER, "note")
    return redirect(url_for("sign_in.sign_in"), 303)
