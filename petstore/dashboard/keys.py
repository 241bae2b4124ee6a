"""/dashboard/keys: the project's keys, issued, rotated, revoked and let in again."""

from functools import partial

from flask import Response, flash, g, redirect, render_template, url_for

from petstore import clock
from petstore.dashboard import csrf
from petstore.dashboard.forms import EMPTY, Form, takes
from petstore.dashboard.lists import read_page
from petstore.dashboard.pages import pages
from petstore.errors import NotFound
from petstore.models.keys import Key, KeyNotActive, TooManyKeys
from petstore.schemas.keys import STATUSES, KeyQuery, NewKeySchema, RotationSchema

bp = pages("keys", __name__, "/keys")


@bp.get("")
def keys(form: Form = EMPTY) -> str:
    """The keys, newest first: those that work, or those that do not any more."""
    page = read_page(KeyQuery(), partial(Key.page, g.caller.project_id))
    return render_template("keys.html", page=page, statuses=STATUSES, form=form)


@bp.post("")
@takes(NewKeySchema(), again=keys)
def issue_key(label: str | None, days: int | None) -> str | Response:
    """Issue a key and show it, this once."""
    expires_ms = clock.now_ms() + days * clock.MS_PER_DAY if days else None
    try:
        return _shown_once(Key.issue(g.project, label=label, expires_ms=expires_ms))
    except TooManyKeys as refusal:
        flash(f"{refusal}. Revoke one first.", "bad")
        return redirect(url_for("keys.keys"), 303)


@bp.get("/<prefix>")
def key(prefix: str, form: Form = EMPTY) -> str:
    """One key, and what can be done with it."""
    return render_template("key.html", key=_own_key(prefix), form=form)


@bp.post("/<prefix>/rotate")
@takes(RotationSchema(), again=key)
def rotate_key(prefix: str, grace: int) -> str | Response:
    """Issue the successor of a key and show it, this once."""
    try:
        return _shown_once(_own_key(prefix).rotate(grace))
    except KeyNotActive:
        return _back_to(prefix, "The key was revoked or rotated before.", "bad")
    except TooManyKeys as refusal:
        instead = "Revoke one first, or let the old key end now."
        return _back_to(prefix, f"{refusal}. {instead}", "bad")


@bp.post("/<prefix>/revoke")
def revoke_key(prefix: str) -> Response:
    """End a key on its very next request."""
    _own_key(prefix).revoke()
    return _back_to(prefix, "The key is revoked. Nothing answers to it any more.")


@bp.post("/<prefix>/unban")
def unban_key(prefix: str) -> Response:
    """End the ban of a key."""
    _own_key(prefix).unban()
    return _back_to(prefix, "The key is let in again.")


def _own_key(prefix: str) -> Key:
    key = Key.find(g.caller.project_id, prefix)
    if key is None:
        raise NotFound(f"There is no key {prefix}.")
    return key


def _shown_once(new_key: str) -> str:
    # A page that is sent again must not issue another key.
    csrf.renew()
    return render_template("new_key.html", new_key=new_key)


def _back_to(prefix: str, said: str, kind: str = "good") -> Response:
    flash(said, kind)
    return redirect(url_for("keys.key", prefix=prefix), 303)
