"""/dashboard/keys: the project's keys, issued, rotated, revoked and unbanned."""

from flask import render_template
from flask.typing import ResponseReturnValue

from petstore import clock
from petstore.dashboard.forms import EMPTY, Form, loads_form, renew_csrf
from petstore.dashboard.lists import read_query
from petstore.dashboard.navigation import go_to
from petstore.dashboard.pages import pages_blueprint
from petstore.dashboard.sessions import current_project
from petstore.models.keys import (
    STATUSES,
    Key,
    KeyNotActive,
    TooManyKeys,
    TooManyNewKeys,
)
from petstore.models.roles import FULL
from petstore.schemas.keys import KeyQuery, NewKeyForm, RotationForm

INDEX = "keys.keys"

# Nobody who has another key of the project can close the way to revoking it.
bp = pages_blueprint("keys", __name__, "/keys", takes=FULL, has_reserve=True)


@bp.get("")
def keys(form: Form = EMPTY) -> str:
    """List keys that work, or keys that have ended, newest first."""
    _, filters = read_query(KeyQuery())
    rows = Key.listed(current_project().id, **filters)
    return render_template(
        "keys.html", keys=rows, statuses=STATUSES, form=form, **filters
    )


@bp.post("")
@loads_form(NewKeyForm(), form_page=keys)
def issue_key(label: str | None, days: int | None) -> ResponseReturnValue:
    """Issue a key and show it once."""
    expires_ms = clock.now_ms() + days * clock.MS_PER_DAY if days else None
    try:
        return _show_once(
            Key.issue(
                current_project(), is_limited=True, label=label, expires_ms=expires_ms
            )
        )
    except (TooManyKeys, TooManyNewKeys) as error:
        return go_to(INDEX, str(error), "bad")


@bp.get("/<prefix>")
def key(prefix: str, form: Form = EMPTY) -> str:
    """Show one key and what can be done with it."""
    key = Key.find(current_project().id, prefix)
    return render_template("key.html", key=key, form=form)


@bp.post("/<prefix>/rotate")
@loads_form(RotationForm(), form_page=key)
def rotate_key(prefix: str, grace: int) -> ResponseReturnValue:
    """Issue the successor of a key and show it once."""
    try:
        old = Key.find(current_project().id, prefix)
        new_key = old.rotate(grace, is_limited=True)
        return _show_once(new_key, Key.find(current_project().id, prefix))
    except (KeyNotActive, TooManyKeys, TooManyNewKeys) as error:
        return _back_to(prefix, str(error), "bad")


@bp.post("/<prefix>/revoke")
def revoke_key(prefix: str) -> ResponseReturnValue:
    """End a key on its very next request."""
    Key.find(current_project().id, prefix).revoke()
    return _back_to(prefix, "The key is revoked and no longer works.")


@bp.post("/<prefix>/unban")
def unban_key(prefix: str) -> ResponseReturnValue:
    """End the ban of a key."""
    Key.find(current_project().id, prefix).unban()
    return _back_to(prefix, "The ban is lifted; the key works again.")


def _show_once(new_key: str, old: Key | None = None) -> str:
    # Resending the form must not issue another key.
    renew_csrf()
    return render_template("new_key.html", new_key=new_key, old=old)


def _back_to(prefix: str, message: str, kind: str = "good") -> ResponseReturnValue:
    return go_to("keys.key", message, kind, prefix=prefix)
