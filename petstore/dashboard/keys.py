"""/dashboard/keys: the project's keys, issued, rotated, revoked and unbanned."""

from typing import Any, NamedTuple

from flask import current_app, render_template, url_for
from flask.typing import ResponseReturnValue

from petstore import clock
from petstore.dashboard.forms import (
    EMPTY,
    Form,
    Outcome,
    filled_in,
    go_to,
    idempotent,
    loads_form,
)
from petstore.dashboard.lists import read_query
from petstore.dashboard.pages import pages_blueprint
from petstore.dashboard.sessions import current_project
from petstore.dashboard.sign_in import NOT_CONFIRMED, is_confirmed
from petstore.models.credentials import PREFIX_LENGTH
from petstore.models.grants import (
    FULL,
    READ,
    WRITE,
    Grant,
    InvalidOrigin,
    LimitMissing,
    LimitsNeeded,
    LimitsTooHigh,
    NoKeyForPages,
    TooManyOrigins,
)
from petstore.models.keys import STATUSES, Key, LastFullKey
from petstore.models.requests import totals_of
from petstore.schemas.keys import KeyQuery, NewKeyForm, RotationForm
from petstore.web.application import limiter_of

INDEX = "keys.keys"
ISSUED_BEFORE = (
    "This form was sent before, and has issued this key. If you have not copied it, "
    "rotate it."
)
# The field of the form that each rule about what a key is issued with concerns.
FIELDS_AT_FAULT = {
    LimitMissing: "per_day",
    LimitsNeeded: "per_minute",
    LimitsTooHigh: "per_minute",
    NoKeyForPages: "origins",
    TooManyOrigins: "origins",
    InvalidOrigin: "origins",
}


class Kind(NamedTuple):
    """What a key is for, what it may do, and where it may be kept, in words."""

    title: str
    rights: str
    place: str


KINDS = {
    READ: Kind(
        "For a web page",
        "It may only read, within limits of its own.",
        "It is no secret: it may stand in a page, where everybody can take it.",
    ),
    WRITE: Kind(
        "For a program",
        "It may read and write animals, categories and orders.",
        "It is a secret: keep it on a computer of yours, not in a web page or in an "
        "app that others get.",
    ),
    FULL: Kind(
        "For people and administration",
        "It may do everything, such as issue and revoke keys and change domains.",
        "It is a secret: keep it in a password manager, not in a program or a page.",
    ),
}
UNLIMITED_READ = Kind(
    "For reading",
    "It may only read, up to the limits of the project.",
    "It is a secret: in a web page, anybody could use up the project's requests.",
)

# Nobody who has another key of the project can close the way to revoking it.
bp = pages_blueprint("keys", __name__, "/keys", takes=FULL, has_reserve=True)


@bp.get("")
def keys(form: Form = EMPTY) -> str:
    """List keys that work, or keys that have ended, newest first."""
    _, filters = read_query(KeyQuery())
    rows = Key.listed(current_project().id, **filters)
    return render_template(
        "keys.html",
        keys=rows,
        totals=totals_of(rows),
        statuses=STATUSES,
        kinds=KINDS,
        quota=current_project().quota,
        form=filled_in(form, url_for(INDEX)),
        **filters,
    )


@bp.post("")
@loads_form(NewKeyForm(), form_page=keys, faults=FIELDS_AT_FAULT)
@idempotent
def issue_key(label: str | None, days: int | None, **granted: Any) -> Outcome:
    """Issue a key and show it once."""
    expires_ms = clock.now_ms() + days * clock.MS_PER_DAY if days else None
    new_key = _issue(Grant(**granted), label=label, expires_ms=expires_ms)
    return _show_once(new_key)


@bp.get("/<prefix>")
def key(prefix: str, form: Form = EMPTY) -> str:
    """Show one key and what can be done with it."""
    key = Key.find(current_project().id, prefix)
    return render_template(
        "key.html", key=key, kind=_kind_of(key), totals=totals_of([key]), form=form
    )


@bp.post("/<prefix>/rotate")
@loads_form(RotationForm(), form_page=key)
@idempotent
def rotate_key(prefix: str, grace: int) -> Outcome:
    """Issue the successor of a key and show it once."""
    old = Key.find(current_project().id, prefix)
    limiter_of(current_app).count_new_key(old.project_id)
    new_key = old.rotate(grace)
    return _show_once(new_key, Key.find(current_project().id, prefix))


@bp.post("/<prefix>/revoke")
def revoke_key(prefix: str) -> ResponseReturnValue:
    """End a key on its very next request; the last full one takes a key again."""
    found = Key.find(current_project().id, prefix)
    try:
        found.revoke(may_be_last=False)
    except LastFullKey:
        if not is_confirmed():
            return key(prefix, NOT_CONFIRMED), 403
        found.revoke()
    return go_to("keys.key", "The key is revoked and no longer works.", prefix=prefix)


@bp.post("/<prefix>/unban")
def unban_key(prefix: str) -> ResponseReturnValue:
    """End the ban of a key."""
    Key.find(current_project().id, prefix).unban()
    return go_to("keys.key", "The ban is lifted; the key works again.", prefix=prefix)


def _issue(grant: Grant, **columns: str | int | None) -> str:
    """Issue a key; one that only reads is for a web page, which the form calls it."""
    if grant.role == READ and grant.per_minute is None:
        raise LimitsNeeded
    limiter_of(current_app).count_new_key(current_project().id)
    return Key.issue(current_project(), grant, **columns)


def _kind_of(key: Key) -> Kind:
    is_unlimited = key.role == READ and not key.is_for_web_page
    return UNLIMITED_READ if is_unlimited else KINDS[key.role]


def _show_once(new_key: str, old: Key | None = None) -> Outcome:
    prefix = new_key[:PREFIX_LENGTH]
    kind = _kind_of(Key.find(current_project().id, prefix))
    page = render_template("new_key.html", new_key=new_key, kind=kind, old=old)
    return Outcome("keys.key", ISSUED_BEFORE, {"prefix": prefix}, page)
