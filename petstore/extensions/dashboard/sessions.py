"""Sessions of people: a signed cookie has a token, which names a `Session`."""

from contextlib import suppress

import peewee
from flask import Flask, Request, current_app, request, session
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface
from flask.typing import ResponseReturnValue
from itsdangerous import BadSignature

from petstore import timeouts
from petstore.errors import (
    ERRORS,
    MAX_BODY_BYTES,
    UNREADABLE,
    ErrorResponse,
    InvalidRequest,
)
from petstore.events import actor
from petstore.extensions.dashboard.formats import duration
from petstore.extensions.dashboard.forms import (
    PROJECT,
    Form,
    View,
    go_to,
    project_of_page,
    save_draft,
)
from petstore.extensions.dashboard.models import Session
from petstore.models import RuleError
from petstore.models.callers import Caller
from petstore.models.grants import require_role
from petstore.models.projects import Project
from petstore.models.secrets import Secret
from petstore.quotas.strategy import Decision
from petstore.settings import Settings
from petstore.web.application import (
    NO_SESSION,
    PAGES_PREFIX,
    current_request,
    quoted_path,
)
from petstore.web.limiter import limiter_of
from petstore.web.turns import acquire_exclusively, acquire_turn_of, waiting_for_client

STATIC = f"{PAGES_PREFIX}/static/"
COOKIE = "petstore_session"
TOKEN = "token"  # noqa: S105 (the member of the cookie that names the session)
OVER = (
    "Your session is over. It ends when you sign out, after an hour without a "
    "request, after twelve hours, with its key, and when your project ends it or is "
    "suspended."
)
LONG_LISTS = ("whole", "name", "sort")  # lists with these parameters take long
TOO_MANY_PAGES = "Your project has opened too many pages"
DEEPEST_PAGE = 6  # parts of the path of a page, with the empty one before it
EXPENSIVE_PAGES = 10  # an export, a printed list or a look at a file counts as so many
# The one form whose page may be of any project, or of none: its key says which is next.
SIGN_IN = "sign_in.enter"
OF_RELEASE_BEFORE = (
    "The service was updated after this page was opened, and has done nothing. Look at "
    "the page again, and send it once more."
)

_long_views: set[View] = set()
_views_with_file: set[View] = set()


def init_app(app: Flask, settings: Settings) -> None:
    app.session_interface = DashboardSessions()
    app.config.update(
        SECRET_KEY=settings.secret_key,
        # With Strict, a link on another site would open the page without a session.
        SESSION_COOKIE_SAMESITE="Lax",
    )


class DashboardSessions(SecureCookieSessionInterface):
    """The sessions of pages, whatever the age of a cookie; static files have none."""

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession:
        if request.path.startswith(STATIC):
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
        cookies, prefix = request.cookies, _cookie_prefix(request)
        # Release 1.3.0, which may run beside this one, writes a name without a port.
        text = cookies.get(self.get_cookie_name(app), cookies.get(prefix, ""))
        serializer = self.get_signing_serializer(app)
        with suppress(BadSignature):
            if serializer and text:
                return SecureCookieSession(serializer.loads(text))
        return SecureCookieSession()

    def get_cookie_name(self, app: Flask) -> str:
        """Return the name, with the port unless it is that of the scheme.

        Browsers send a cookie to all ports of a host, where others may be installed.
        """
        request = current_request()
        port = request.host.rpartition(":")[2]  # without that of the scheme
        name = _cookie_prefix(request)
        return f"{name}_{port}" if port.isascii() and port.isdecimal() else name

    def get_cookie_path(self, app: Flask) -> str:
        """Return the path, which browsers require to be / for the name over TLS."""
        return "/" if current_request().is_secure else PAGES_PREFIX

    def get_cookie_secure(self, app: Flask) -> bool:
        return current_request().is_secure


def _cookie_prefix(request: Request) -> str:
    """Return the name without a port; over TLS it is one that no other host can set."""
    return f"__Host-{COOKIE}" if request.is_secure else COOKIE


def start(caller: Caller) -> None:
    """Sign in the holder of a key, and end the browser's previous session."""
    end()
    if session.get(PROJECT) != caller.project_id:
        session.clear()  # it may have a draft for another project
    session[PROJECT] = caller.project_id
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
    typed = Form.of_request().values
    if not save_draft(request.path, typed) and any(typed.values()):
        raise ErrorResponse("missing_api_key")  # the page of the error keeps it
    return go_to("sign_in.sign_in", message, "note", next=wanted_page())


def suspension() -> str:
    """Return why nobody signs in to a project that is suspended, and whom to ask."""
    message = ERRORS["project_suspended"].message
    contact = current_app.jinja_env.globals["contact"]
    return f"{message} Ask {contact}." if contact else message


def _reason_of_end() -> str:
    project = Project.get_or_none(id=session.get(PROJECT))
    return suspension() if project and project.is_suspended else OVER


def recognise(*, has_reserve: bool = False) -> bool:
    """Find the caller and the project; return whether somebody is signed in.

    Raises 503, and counts nothing, if too many requests of the key run, or if another
    long computation runs for the project. Raises 429 if the project has opened too many
    pages, and the key has no reserve for this one. The page with the 429 has the menu,
    which leads to the keys.
    """
    caller = _find_caller()
    if caller is None:
        return False
    actor.set(caller.prefix)
    state = current_request().state
    state.project = Project.get_by_id(caller.project_id)
    state.caller = caller
    acquire_turn_of(caller.key_id)
    view = current_app.view_functions.get(request.endpoint or "")
    if view in _long_views or any(map(request.args.get, LONG_LISTS)):
        acquire_exclusively(caller.project_id)
    decision = limiter_of(current_app).count_page(caller, has_reserve=has_reserve)
    hint = "" if has_reserve else " (the page Keys still opens)"
    require_granted(decision, TOO_MANY_PAGES + hint)
    return True


def recognise_sender() -> None:
    """Find out who is signed in, for the menu of a page that anybody may open."""
    if current_request().state.caller is None:
        with suppress(ErrorResponse):
            recognise()


def _find_caller() -> Caller | None:
    return Session.find_caller(session[TOKEN]) if TOKEN in session else None


def require_own_page() -> None:
    """Raise 400 for a form of a page that was shown for another project.

    If the form does not say whose it is, its page shows it again: raises `RuleError`.
    """
    if request.method != "POST" or request.endpoint == SIGN_IN:
        return
    caller = current_request().state.caller or _find_caller()
    if caller is None:  # has signed out already
        return
    if current_app.view_functions[request.endpoint or ""] in _views_with_file:
        _receive_long_form()
    project_id, name = project_of_page()
    if not project_id:
        raise RuleError(text=OF_RELEASE_BEFORE)
    if project_id != str(caller.project_id):
        own = Project.get_by_id(caller.project_id).name
        text = f"This page was {name}'s. You are signed in to {own} now."
        raise InvalidRequest(text)


def takes_long(view: View) -> View:
    """Mark a view that takes long: a project runs one of them at a time."""
    _long_views.add(view)
    return view


def takes_file(view: View) -> View:
    """Mark the view of a form with a file, which may be large and arrive slowly."""
    _views_with_file.add(view)
    return view


def count_expensive_page(pages: int = EXPENSIVE_PAGES) -> None:
    """Count a page as so many, of which one is counted already; raises 429."""
    if pages > 1:
        caller = current_request().state.required_caller
        decision = limiter_of(current_app).count_page(caller, pages=pages - 1)
        require_granted(decision, TOO_MANY_PAGES)


def _receive_long_form() -> None:
    """Receive a form with a file.

    Raises 429 if the project has sent too many large ones, and 503 if another long
    computation runs for it.
    """
    request = current_request()
    most = timeouts.LIMITS.import_bytes + MAX_BODY_BYTES  # with the other fields
    if not MAX_BODY_BYTES < (request.content_length or 0) <= most:
        return
    caller = request.state.required_caller
    decision = limiter_of(current_app).count_long_form(caller.project_id)
    most_files = f"{decision.tightest.limit} files above {MAX_BODY_BYTES // 1024} KiB"
    require_granted(decision, f"Your project has sent {most_files} today")
    request.max_body_bytes = most
    with waiting_for_client():
        request.stream  # noqa: B018 (this reads the body)
    acquire_exclusively(caller.project_id)


def count_form() -> None:
    """Count a form for the project and the key; raises 429."""
    if request.method != "POST":
        return
    state, limiter = current_request().state, limiter_of(current_app)
    caller, endpoint = state.required_caller, request.endpoint
    state.decision = decision = limiter.count_form(caller, endpoint)
    require_granted(decision, decision.reason(state.project.plan))


def current_project() -> Project:
    return current_request().state.project


def require_granted(decision: Decision, reason: str) -> None:
    """Raise 429 for a request that a limit refuses."""
    if not decision.is_granted:
        seconds = decision.retry_after_seconds
        headers = {"Retry-After": str(seconds)}
        wait = duration(seconds)
        raise ErrorResponse("rate_limit_exceeded", reason, wait, headers=headers)


def wanted_page() -> str | None:
    """Return the URL to come back to: the requested page, or the page of the form."""
    path, urls = request.path, current_app.url_map.bind("")
    path = "/".join(path.split("/", DEEPEST_PAGE)[:DEEPEST_PAGE])
    while not urls.test(path, "GET"):
        path = path.rpartition("/")[0]
    if path.rstrip("/") == PAGES_PREFIX:
        return None
    return quoted_path(path) + current_request().quoted_query
