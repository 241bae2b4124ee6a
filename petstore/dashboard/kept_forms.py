"""Forms that are filled in when their page opens next: after another one, or a sign-in.

A form is kept with its action, in the cookie of the session. While nobody is signed in
it is a text that the sign-in page sends on, since a form of another site, which comes
without the session, must not overwrite the cookie.
"""

import orjson
from flask import request, session

CSRF_TOKEN = "csrf_token"  # noqa: S105 (the name of a form field)
ONCE = "once"  # the name of a form field, too
KEY = "key"  # as it is of this one, which is secret, and of its name
KEY_NAME = "username"
UNSEEN = (CSRF_TOKEN, ONCE, KEY, KEY_NAME)
KEPT = "kept"  # the member of the cookie
MAX_BYTES = 2000  # they are in a query, and in a cookie, which may have 4 KB


def sent_fields() -> dict[str, str]:
    """Return the fields of the request's form that people may see again."""
    fields = request.form.to_dict()
    return {name: fields[name] for name in fields if name not in UNSEEN}


def keep(action: str, fields: dict[str, str]) -> None:
    """Keep a form in the cookie."""
    session[KEPT] = [action, fields]


def take(action: str) -> dict[str, str]:
    """Return the fields that were kept for an action, once."""
    kept_action, fields = session.get(KEPT, ("", {}))
    if kept_action != action:
        return {}
    del session[KEPT]
    return dict(fields)


def as_text() -> str | None:
    """Return the form of the request as a text, unless it is empty or too long."""
    fields = sent_fields()
    text = orjson.dumps([request.path, fields])
    return text.decode() if fields and len(text) <= MAX_BYTES else None


def keep_text(text: str) -> None:
    """Keep the form in a text that a client has sent back, if it is one."""
    if len(text.encode()) > MAX_BYTES:
        return
    try:
        action, fields = orjson.loads(text)
        keep(str(action), {name: str(text) for name, text in fields.items()})
    except (ValueError, TypeError, AttributeError):
        return
