"""/dashboard/sign-in and /dashboard/sign-out, and keys that confirm what people do.

A key is looked up before failures are counted, so the limit never refuses a right key.
"""

import logging
import re
from urllib.parse import unquote

from flask import current_app, render_template, request, session
from flask.typing import ResponseReturnValue

from petstore.errors import ERRORS
from petstore.events import emit
from petstore.extensions.dashboard import forms, sessions
from petstore.extensions.dashboard.limits import count_failed_sign_in, count_sign_in
from petstore.extensions.dashboard.models import SESSIONS
from petstore.extensions.dashboard.pages import PageBlueprint
from petstore.models.activity import emit_after_commit
from petstore.models.callers import Caller
from petstore.models.grants import FULL, WRITE, is_allowed, role_refusal
from petstore.storage import db

# The URL of a page of the dashboard. The pattern has no character that would lead a
# browser to another host, or end a header.
PAGE = re.compile(rf"{sessions.PAGES_PREFIX}(/[!-\[\]-~]*)?(\?[!-\[\]-~]*)?")
MAX_PAGE_LENGTH = 2000
# People paste more than a key, such as a header, a setting or quotation marks.
PASTED_KEY = re.compile(r"(?<![0-9A-Za-z])pet_[0-9A-Za-z_]+")

NOT_SAVED = "Not saved yet: this is what you have typed. Send it again."
NOT_CONFIRMED = forms.Form(
    errors={forms.KEY: "Enter a full key of this project that works."}
)

bp = PageBlueprint("sign_in", __name__, "", required_role=None)


@bp.get("/sign-in")
def sign_in(form: forms.Form = forms.EMPTY) -> str:
    sessions.recognise_sender()
    return render_template("sign_in.html", form=form, next=_next_page())


@bp.post("/sign-in")
def enter() -> ResponseReturnValue:
    """Begin a session with a key that may write, even after many failed sign-ins."""
    caller = Caller.find_by_key(_entered_key())
    if caller is None:
        return _reject("invalid_api_key")
    if caller.suspended_ms:
        return _reject("project_suspended", sessions.suspension())
    if not is_allowed(caller.role, WRITE):
        return _reject("key_not_allowed", role_refusal(caller.role, WRITE))
    count_sign_in(caller)
    with db.atomic():
        sessions.start(caller)
        key = caller.prefix
        facts = {"project": caller.slug, "key": key}
        emit_after_commit("signed_in", by=key, topic=SESSIONS, **facts)
    message = NOT_SAVED if forms.DRAFT in session else ""
    return forms.go_to_url(_next_page() or sessions.PAGES_PREFIX, message, "note")


@bp.post("/sign-out")
def sign_out() -> ResponseReturnValue:
    sessions.end()
    return forms.go_to("sign_in.sign_in")


def is_confirmed() -> bool:
    """Return whether the form has a full key; raises 429 after too many wrong ones."""
    key, project = _entered_key(), sessions.current_project()
    caller = Caller.find_by_key(key)
    if caller and caller.project_id == project.id and is_allowed(caller.role, FULL):
        return True
    if key:
        _count_failure(project=project.slug)
    return False


def _entered_key() -> str:
    """Return the key in the pasted text, such as a header or a setting."""
    pasted = request.form.get(forms.KEY, "")
    keys = PASTED_KEY.findall(pasted)
    return str(keys[0]) if len(keys) == 1 else pasted.strip()


def _next_page() -> str | None:
    """Return the URL of the page to open after the sign-in; None if it is no page."""
    url = sessions.quoted(request.values.get("next", ""))
    if len(url) > MAX_PAGE_LENGTH or not PAGE.fullmatch(url):
        return None
    path = unquote(url.partition("?")[0])
    return url if current_app.url_map.bind("").test(path, "GET") else None


def _reject(code: str, text: str = "") -> ResponseReturnValue:
    _count_failure()
    kind = ERRORS[code]
    form = forms.Form(errors={forms.KEY: text or kind.message})
    return sign_in(form), kind.status, kind.headers


def _count_failure(**facts: str) -> None:
    """Count a refused key; raises 429 if its address has sent too many."""
    may_try_again = count_failed_sign_in()
    # A client that reaches the limit is guessing keys.
    level = logging.INFO if may_try_again else logging.WARNING
    emit("sign_in_failed", level, address=request.remote_addr, **facts)
