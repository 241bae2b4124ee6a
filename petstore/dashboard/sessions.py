"""Sessions of people: a signed cookie with a token that names a `Session`."""

from contextlib import suppress
from datetime import timedelta

import peewee
from flask import Flask, Request, current_app, g, request, session
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface
from flask.typing import ResponseReturnValue

from petstore import quotas
from petstore.dashboard.formats import duration
from petstore.dashboard.navigation import PREFIX, STATIC, go_to, is_dashboard_path
from petstore.errors import ErrorResponse
from petstore.models.callers import Caller
from petstore.models.projects import Project
from petstore.models.sessions import LASTS_MS, Secret, Session, digest_of
from petstore.quotas.windows import Decision
from petstore.settings import Settings
from petstore.web.routing import current_request

TOKEN = "token"  # noqa: S105 (the member of the cookie that names the session)
OVER = (
    "Your session is over: you signed out, it is twelve hours old, "
    "or its key was revoked or has ended."
)


def init_app(app: Flask, settings: Settings) -> None:
    """Keep sessions in a cookie that is sent to /dashboard alone."""
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
    """Sessions under /dashboard; other requests have none."""

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        """Return the session of a request for a page."""
        if not is_dashboard_path(request.path) or request.path.startswith(STATIC):
            return None
        # An outage cannot be answered yet; the hooks of the page meet it again.
        with suppress(peewee.DatabaseError):
            load_secret()
        return super().open_session(app, request) or SecureCookieSession()

    def get_cookie_secure(self, app: Flask) -> bool:
        """Return whether the cookie is for TLS alone: if the request came over it."""
        return current_request().is_secure


def load_secret() -> None:
    """Load the signing secret that all hosts share, unless the settings have one."""
    if current_app.secret_key is None:
        current_app.secret_key = Secret.shared("sessions")


def start(caller: Caller) -> None:
    """Sign in the holder of a key, and end the browser's previous session."""
    end()
    session[TOKEN] = Session.begin(caller)


def end() -> None:
    """Sign out, for every copy of the cookie."""
    if TOKEN in session:
        Session.end(session[TOKEN])
    session.clear()


def require() -> ResponseReturnValue | None:
    """Set `g.caller` and `g.project`, or redirect to the sign-in page."""
    if recognise():
        return None
    message = ""
    if TOKEN in session:
        end()
        message = OVER
    return go_to("sign_in.sign_in", message, "note", next=_wanted_page())


def recognise() -> bool:
    """Set `g.caller` and `g.project`; return whether somebody is signed in."""
    if TOKEN not in session:
        return False
    token = session[TOKEN]
    decision = quotas.limiter_of(current_app).count_page(digest_of(token))
    if not decision.is_granted:
        raise too_many(decision, "You have asked for too many pages")
    caller = Session.caller(token)
    if caller is None:
        return False
    g.project = Project.get_by_id(caller.project_id)
    g.caller = caller
    return True


def too_many(decision: Decision, reason: str) -> ErrorResponse:
    """Return the failure for a request that a limit refuses."""
    seconds = decision.retry_after_seconds
    headers = {"Retry-After": str(seconds)}
    wait = duration(seconds)
    return ErrorResponse("rate_limit_exceeded", reason, wait, headers=headers)


def _wanted_page() -> str | None:
    """Return the URL of the request, if it is one to come back to."""
    wanted = request.full_path.removesuffix("?")
    is_default = request.path.rstrip("/") == PREFIX
    return wanted if request.method == "GET" and not is_default else None
