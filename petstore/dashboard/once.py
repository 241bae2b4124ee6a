"""Deeds of forms that are done once, however often the form is sent."""

import re
from collections.abc import Callable
from hashlib import sha256
from typing import Any, NamedTuple

import orjson
from flask import request, url_for
from flask.typing import ResponseReturnValue

from petstore import timeouts
from petstore.dashboard.kept_forms import ONCE, keep, sent_fields
from petstore.dashboard.navigation import go_to
from petstore.dashboard.sessions import current_project
from petstore.models.stored_responses import Attempt, StoredResponse
from petstore.storage import db

# As `randomness.token` makes it for each form.
TOKEN = re.compile(r"[A-Za-z0-9_-]{12}")
SEE_OTHER = 303


class Outcome(NamedTuple):
    """The page that a deed leads to, what it says, and how its form is filled in."""

    endpoint: str
    message: str
    arguments: dict[str, Any] = {}
    values: dict[str, str] = {}

    def show(self) -> ResponseReturnValue:
        """Redirect to the page."""
        if self.values:
            keep(url_for(self.endpoint, **self.arguments), self.values)
        return go_to(self.endpoint, self.message, **self.arguments)


def do_once(deed: Callable[[], Outcome], file: bytes = b"") -> ResponseReturnValue:
    """Do what a form is for, unless the same form was sent before.

    A browser without a script sends it again at a double click. The second answer is
    what the first one was. An error undoes the deed, so that it can be tried again. Who
    has gone back and filled in something else sends another form.
    """
    token = request.form.get(ONCE, "")
    if not TOKEN.fullmatch(token):
        with db.atomic():
            outcome = deed()
        return outcome.show()
    fields = orjson.dumps(sorted(sent_fields().items()))
    key = f"{token}.{sha256(fields + file).hexdigest()}"
    attempt = Attempt(current_project().id, request.path, key, b"")
    seconds = timeouts.LIMITS.replay_lock_seconds
    with db.atomic(lock_seconds=seconds):
        if stored := StoredResponse.find_locked(attempt):
            outcome = Outcome(*orjson.loads(bytes(stored.body or b"")))
        else:
            outcome = deed()
            StoredResponse.keep(attempt, SEE_OTHER, None, orjson.dumps([*outcome]))
    return outcome.show()
