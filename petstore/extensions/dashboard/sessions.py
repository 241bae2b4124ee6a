"""Sessions of people: a signed cookie has a token, which names a `Session`.

When a session ends is in `models.py`: `IDLE_MS` and `LASTS_MS`.
"""

import string
from contextlib import suppress
from urllib.parse import quote

import peewee
from flask import Flask, Request, current_app, g, request, session
from flask.sessions import (
    SecureCookieSession,
    SecureCookieSessionInterface,
)
from flask.typing import ResponseReturnValue
from itsdangerous import BadSignature

from petstore.errors import ERRORS, UNREADABLE, ErrorResponse, InvalidRequest
from petstore.events import actor
from petstore.extensions.dashboard import forms
from petstore.extensions.dashboard.limits import count_page
from petstore.extensions.dashboard.models import Session
from petstore.extensions.dashboard.turns import acquire_exclusively
from petstore.models import RuleError
from petstore.models.callers import Caller
from petstore.models.grants import require_role
from petstore.models.projects import Project
from petstore.models.secrets import Secret
from petstore.settings import Settings
from petstore.web.application import NO_SESSION, current_request
from petstore.web.turns import acquire_turn_of

PAGES_PREFIX = "/dashboard"
STATIC = f"{PAGES_PREFIX}/static/"
COOKIE = "petstore_session"
TOKEN = "token"  # noqa: S105 (the member of the cookie that names the session)
OVER = (
    "Your session is over. It ends when you sign out, after an hour without a "
    "request, after twelve hours, with its key, and when your project ends it or is "
    "suspended."
)
LONG_LISTS = ("whole", "name", "sort")  # lists with these parameters take long
DEEPEST_PAGE = 6  # parts of the path of a page, with the empty one before it
# The one form whose page may be of any project, or of none: its key says which is next.
SIGN_IN = "sign_in.enter"
OF_RELEASE_BEFORE = (
    "The service was updated after this page was opened, and has done nothing. Look at "
    "the page again, and send it once more."
)

_long_views: set[forms.View] = set()


def init_app(app: Flask, settings: Settings) -> None:
    app.session_interface = DashboardSessions()
    app.config.update(
        SECRET_KEY=settings.secret_key,
        # With Strict, a link on another site would open the page without a session.
        SESSION_COOKIE_SAMESITE="Lax",
    )


class DashboardSessions(SecureCookieSessionInterface):
    """The sessions of pages, whatever the age of a cookie; nothing else has one."""

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession:
        if not is_page_path(request.path) or request.path.startswith(STATIC):
            return NO_SESSION
        try:
            # All hosts share this secret, unless the settings have one.
            app.secret_key = app.secret_key or Secret.shared("sessions")
        except peewee.DatabaseError as error:
            # An error cannot be answered here: the first hook raises it.
            request.environ.setdefault(UNREADABLE, error)
            return SecureCookieSession()
        # The database decides when a session ends. Flask would judge by the clock of
        # this host, and refuse a cookie that a host with a clock ahead has signed.
        text = request.cookies.get(self.get_cookie_name(app))
        serializer = self.get_signing_serializer(app)
        with suppress(BadSignature):
            if serializer and text:
                return SecureCookieSession(serializer.loads(text))
        return SecureCookieSession()

    def get_cookie_name(self, app: Flask) -> str:
        """Return the name, with the port unless it is that of the scheme.

        Browsers send a cookie to all ports of a host, where others may be installed.
        Over TLS, no other host can set one of this name.
        """
        request = current_request()
        port = request.host.rpartition(":")[2]  # without that of the scheme
        name = f"__Host-{COOKIE}" if request.is_secure else COOKIE
        return f"{name}_{port}" if port.isascii() and port.isdecimal() else name

    def get_cookie_path(self, app: Flask) -> str:
        """Return the path, which browsers require to be / for the name over TLS."""
        return "/" if current_request().is_secure else PAGES_PREFIX

    def get_cookie_secure(self, app: Flask) -> bool:
        return current_request().is_secure


def start(caller: Caller) -> None:
    """Sign in the holder of a key, and end the browser's previous session."""
    end()
    if session.get(forms.PROJECT) != caller.project_id:
        session.clear()  # it may have a draft for another project
    session[forms.PROJECT] = caller.project_id
    session[TOKEN] = Session.begin(caller)


def end() -> None:
    """Sign out, for every copy of the cookie."""
    if TOKEN in session:
        Session.end(session[TOKEN])  # if this fails, the cookie stays for another try
        del session[TOKEN]


def require(role: str, *, has_reserve: bool = False) -> ResponseReturnValue | None:
    """Call `recognise`; redirect to the sign-in page if nobody is signed in.

    Raises 403 if the role of the key does not suffice.
    """
    if recognise(has_reserve=has_reserve):
        require_role(current_request().state.required_caller.role, role)
        return None
    # This does not delete the row of the session: no limit counts a request with an old
    # cookie, so it must not write. Housekeeping deletes the row.
    message = _reason_of_end() if session.pop(TOKEN, None) else ""
    typed = forms.Form.of_request().values
    if not forms.save_draft(request.path, typed) and any(typed.values()):
        raise ErrorResponse("missing_api_key")  # the page of the error keeps it
    return forms.go_to("sign_in.sign_in", message, "note", next=wanted_page())


def suspension() -> str:
    """Return why nobody signs in to a project that is suspended, and whom to ask."""
    message = ERRORS["project_suspended"].message
    contact = current_app.jinja_env.globals["contact"]
    return f"{message} Ask {contact}." if contact else message


def _reason_of_end() -> str:
    project = Project.get_or_none(id=session.get(forms.PROJECT))
    return suspension() if project and project.is_suspended else OVER


def recognise(*, has_reserve: bool = False) -> bool:
    """Find the caller and the project; return whether somebody is signed in.

    Raises 503, and counts nothing, if too many requests of the key run, or if another
    long computation runs for the project. Raises 429 if the project has opened too many
    pages, and the key has no reserve for this one. The page with the 429 has the menu,
    which leads to the keys.
    """
    found = _find_caller()
    if found is None:
        return False
    caller, g.project = found
    actor.set(caller.prefix)
    current_request().state.caller = caller
    acquire_turn_of(caller.key_id)
    view = current_app.view_functions.get(request.endpoint or "")
    if view in _long_views or any(map(request.args.get, LONG_LISTS)):
        acquire_exclusively(caller.project_id)
    count_page(caller, has_reserve=has_reserve)
    return True


def recognise_sender() -> None:
    """Find out who is signed in, for the menu of a page that anybody may open."""
    if current_request().state.caller is None:
        with suppress(ErrorResponse):
            recognise()


def _find_caller() -> tuple[Caller, Project] | None:
    return Session.find_caller(session[TOKEN]) if TOKEN in session else None


def require_own_page() -> None:
    """Raise 400 for a form of a page that was shown for another project.

    If the form does not say whose it is, its page shows it again: raises `RuleError`.
    """
    if request.method != "POST" or request.endpoint == SIGN_IN:
        return
    is_known = current_request().state.caller is not None
    own = g.project if is_known else (_find_caller() or (None, None))[1]
    if own is None:  # has signed out already
        return
    project_id, name = forms.project_of_page()
    if not project_id:
        raise RuleError(text=OF_RELEASE_BEFORE)
    if project_id != str(own.id):
        text = f"This page was {name}'s. You are signed in to {own.name} now."
        raise InvalidRequest(text)


def takes_long(view: forms.View) -> forms.View:
    """Mark a view that takes long: a project runs one of them at a time."""
    _long_views.add(view)
    return view


def current_project() -> Project:
    project: Project = g.project
    return project


def wanted_page() -> str | None:
    """Return the URL to come back to: the requested page, or the page of the form."""
    path, urls = request.path, current_app.url_map.bind("")
    path = "/".join(path.split("/", DEEPEST_PAGE)[:DEEPEST_PAGE])
    while not urls.test(path, "GET"):
        path = path.rpartition("/")[0]
    if path.rstrip("/") == PAGES_PREFIX:
        return None
    query = quoted(request.query_string)
    return quote(path) + (query and f"?{query}")


def is_page_path(path: str) -> bool:
    """Return whether a path belongs to the dashboard, known or not."""
    return f"{path}/".startswith(f"{PAGES_PREFIX}/")


def quoted(url: str | bytes) -> str:
    """Quote the characters that a URL cannot contain; the rest is quoted already."""
    return quote(url, safe=string.punctuation)
