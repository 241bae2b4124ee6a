"""/dashboard/keys: the project's keys, issued, rotated, revoked and unbanned."""

from functools import partial

from flask import flash, g, make_response, redirect, render_template, url_for

from petstore import clock
from petstore.dashboard.forms import EMPTY, Form, PageResponse, loads_form, renew_csrf
from petstore.dashboard.lists import read_page
from petstore.dashboard.pages import pages_blueprint
from petstore.models.keys import STATUSES, Key, KeyNotActive, TooManyKeys
from petstore.schemas.keys import KeyQuery, NewKeySchema, RotationSchema

bp = pages_blueprint("keys", __name__, "/keys")


@bp.get("")
def keys(form: Form = EMPTY) -> str:
    """List keys that work, or keys that have ended, newest first."""
    page = read_page(KeyQuery(), partial(Key.page, g.caller.project_id))
    return render_template("keys.html", page=page, statuses=STATUSES, form=form)


@bp.post("")
@loads_form(NewKeySchema(), form_page=keys)
def issue_key(label: str | None, days: int | None) -> PageResponse:
    """Issue a key and show it once."""
    expires_ms = clock.now_ms() + days * clock.MS_PER_DAY if days else None
    try:
        return _show_once(Key.issue(g.project, label=label, expires_ms=expires_ms))
    except TooManyKeys as refused:
        flash(f"{refused}. Revoke one first.", "bad")
        return make_response(redirect(url_for("keys.keys"), 303))


@bp.get("/<prefix>")
def key(prefix: str, form: Form = EMPTY) -> str:
    """Show one key and what can be done with it."""
    key = Key.find(g.caller.project_id, prefix)
    return render_template("key.html", key=key, form=form)


@bp.post("/<prefix>/rotate")
@loads_form(RotationSchema(), form_page=key)
def rotate_key(prefix: str, grace: int) -> PageResponse:
    """Issue the successor of a key and show it once."""
    try:
        return _show_once(Key.find(g.caller.project_id, prefix).rotate(grace))
    except KeyNotActive:
        return _back_to(prefix, "The key was revoked or rotated before.", "bad")
    except TooManyKeys as refused:
        advice = "Revoke one first, or let the old key end now."
        return _back_to(prefix, f"{refused}. {advice}", "bad")


@bp.post("/<prefix>/revoke")
def revoke_key(prefix: str) -> PageResponse:
    """End a key on its very next request."""
    Key.find(g.caller.project_id, prefix).revoke()
    return _back_to(prefix, "The key is revoked. Nothing answers to it any more.")


@bp.post("/<prefix>/unban")
def unban_key(prefix: str) -> PageResponse:
    """End the ban of a key."""
    Key.find(g.caller.project_id, prefix).unban()
    return _back_to(prefix, "The key is let in again.")


def _show_once(new_key: str) -> str:
    # Resending the form must not issue another key.
    renew_csrf()
    return render_template("new_key.html", new_key=new_key)


def _back_to(prefix: str, message: str, kind: str = "good") -> PageResponse:
    flash(message, kind)
    return make_response(redirect(url_for("keys.key", prefix=prefix), 303))
