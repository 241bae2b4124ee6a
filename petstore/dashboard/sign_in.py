"""/dashboard/sign-in and /dashboard/sign-out."""

import re
import string
from urllib.parse import quote, unquote

from flask import current_app, redirect, render_template, request
from flask.typing import ResponseReturnValue

from petstore.dashboard import kept_forms, overview, sessions
from petstore.dashboard.entered_keys import count_failure, entered_key
from petstore.dashboard.forms import EMPTY, Form
from petstore.dashboard.navigation import PREFIX, go_to
from petstore.dashboard.pages import pages_blueprint
from petstore.errors import ERRORS
from petstore.events import emit_after_commit
from petstore.models.callers import Caller
from petstore.models.grants import WRITE, role_refusal
from petstore.storage import db
from petstore.web.application import limiter_of

# A page of the dashboard: nothing that a browser takes for another host, and nothing
# that ends a header.
PAGE = re.compile(rf"{PREFIX}(/[!-\[\]-~]*)?(\?[!-\[\]-~]*)?")
MAX_PAGE_LENGTH = 2000

TAKES = WRITE
CROWDED = "Too many people have signed in to your project"

bp = pages_blueprint("sign_in", __name__, "", takes=None)


@bp.get("/sign-in")
def sign_in(form: Form = EMPTY) -> str:
    """Ask for a key."""
    unsent = request.values.get("form", "")
    return render_template("sign_in.html", form=form, next=_next_page(), unsent=unsent)


@bp.post("/sign-in")
def enter() -> ResponseReturnValue:
    """Begin a session with a key that may write, however many sign-ins have failed."""
    caller = Caller.of(entered_key())
    if caller is None:
        return _reject("invalid_api_key")
    if not caller.may(TAKES):
        return _reject("key_not_allowed", role_refusal(caller.role, TAKES))
    _count(caller)
    with db.atomic():
        sessions.start(caller)
        kept_forms.keep_text(request.form.get("form", ""))
        key = caller.prefix
        emit_after_commit("signed_in", by=key, project=caller.slug, key=key)
    page = _next_page()
    return redirect(page, 303) if page else go_to(overview.INDEX)


@bp.post("/sign-out")
def sign_out() -> ResponseReturnValue:
    """End the session, on every worker and host."""
    sessions.end()
    return go_to("sign_in.sign_in")


def _next_page() -> str | None:
    """Return the URL of the page to open after signing in, unless it is no page."""
    url = quote(request.values.get("next", ""), safe=string.punctuation)
    if len(url) > MAX_PAGE_LENGTH or not PAGE.fullmatch(url):
        return None
    path = unquote(url.partition("?")[0])
    return url if current_app.url_map.bind("").test(path, "GET") else None


def _count(caller: Caller) -> None:
    decision = limiter_of(current_app).count_sign_in(caller)
    if not decision.is_granted:
        raise sessions.too_many(decision, CROWDED)


def _reject(code: str, text: str = "") -> ResponseReturnValue:
    count_failure()
    kind = ERRORS[code]
    form = Form(errors={"key": kind.message.format(text)})
    return sign_in(form), kind.status, kind.headers
