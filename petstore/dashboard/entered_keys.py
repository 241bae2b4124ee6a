"""Keys that people enter, to sign in or to confirm what they do.

A key is looked up before failures are counted, so that they never refuse a right one.
"""

import logging

from flask import current_app, request

from petstore.dashboard import sessions
from petstore.dashboard.forms import Form
from petstore.dashboard.kept_forms import KEY
from petstore.events import emit
from petstore.models.callers import Caller
from petstore.models.grants import FULL
from petstore.web.application import limiter_of

FAILED = "Too many sign-ins from your address have failed"
NOT_CONFIRMED = Form(errors={KEY: "Enter a full key of this project that works."})


def entered_key() -> str:
    """Return the key in the form of the request."""
    return request.form.get(KEY, "").strip()


def is_confirmed() -> bool:
    """Return whether the form contains a full key of the project.

    A wrong one is counted as a failed sign-in. Raises 429 if too many came before it.
    """
    key, project = entered_key(), sessions.current_project()
    caller = Caller.of(key)
    if caller and caller.project_id == project.id and caller.may(FULL):
        return True
    if key:
        count_failure(project=project.slug)
    return False


def count_failure(**facts: str) -> None:
    """Count a key that was refused; raises 429 if its address sent too many."""
    failed = limiter_of(current_app).count_failed_sign_in(request.remote_addr)
    if not failed.is_granted:
        raise sessions.too_many(failed, FAILED)
    # Whoever reaches the limit is guessing keys.
    level = logging.INFO if failed.tightest.remaining else logging.WARNING
    emit("sign_in_failed", level, address=request.remote_addr, **facts)
