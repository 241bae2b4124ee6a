"""/dashboard/keys: list, issue, change, rotate and revoke keys."""

import re
from dataclasses import replace
from functools import partial
from typing import Any

from flask import render_template, request, url_for
from flask.typing import ResponseReturnValue

from petstore import clock
from petstore.extensions.dashboard import forms, schemas
from petstore.extensions.dashboard.limits import count_new_key
from petstore.extensions.dashboard.lists import read_query
from petstore.extensions.dashboard.pages import PageBlueprint
from petstore.extensions.dashboard.sessions import current_project
from petstore.extensions.dashboard.sign_in import NOT_CONFIRMED, is_confirmed
from petstore.models import NotFound, grants
from petstore.models.activity import SHOWN_FACTS, emit_after_commit
from petstore.models.credentials import PREFIX_LENGTH, PREFIX_PATTERN
from petstore.models.keys import Key, KeyNotActive
from petstore.models.plans import LimitMissing
from petstore.storage import db

SHOWN_FACTS["key_changed"] = ("key", "label", "per_minute", "per_day", "origins", "was")
INDEX = "keys.keys"
CHANGE_FORM = schemas.KeyForm()
# The fields at which errors of rules are shown.
FIELDS = {
    grants.OneLimitMissing: "per_day",
    LimitMissing: "per_minute",
    grants.LimitTooHigh: "per_minute",
    grants.InvalidOrigin: "origins",
}
ISSUED_BEFORE = (
    "You have sent this form before, and it has issued this key. Rotate the key if you "
    "have not copied it."
)


# Decorates a view that issues a key.
issues_key = partial(forms.idempotent, count=count_new_key)
# With the reserve, a key that uses up the limits can still be revoked by another one.
bp = PageBlueprint(
    "keys", __name__, "/keys", required_role=grants.FULL, has_reserve=True
)


@bp.get("")
def keys(form: forms.Form = forms.EMPTY) -> str:
    _, parameters = read_query(schemas.KeyQuery())
    rows = list_keys(current_project().id, parameters["status"])
    return render_template(
        "keys.html",
        keys=rows,
        statuses=schemas.KEY_STATUSES,
        kinds=schemas.KEY_KINDS,
        quota=current_project().quota,
        form=forms.filled_in(form, url_for(INDEX)),
        **parameters,
    )


@bp.post("")
@forms.loads_form(schemas.NewKeyForm(), form_page=keys, fields=FIELDS)
@issues_key
def issue_key(label: str | None, days: int | None, **granted: Any) -> forms.Outcome:
    expires_ms = clock.now_ms() + days * clock.MS_PER_DAY if days else None
    grant = grants.Grant(**granted)
    project = current_project()
    new_key = Key.issue(project, grant, label=label, expires_ms=expires_ms)
    return _show_once(new_key, note=grant.note)


@bp.get("/<prefix>")
def key(prefix: str, form: forms.Form = forms.EMPTY) -> str:
    key = _own_key(prefix)
    change = forms.filled_in(form, url_for(".key", prefix=prefix))
    kept = {name: schemas.text_of(getattr(key, name)) for name in CHANGE_FORM.fields}
    return render_template(
        "key.html",
        key=key,
        is_last_full=_is_last_full(key),
        quota=current_project().quota,
        form=form,
        change=replace(change, values=kept | change.values),
    )


@bp.post("/<prefix>")
@forms.loads_form(CHANGE_FORM, form_page=key, fields=FIELDS)
@forms.idempotent
def change_key(prefix: str, label: str | None, **granted: Any) -> forms.Outcome:
    found = _own_key(prefix)
    grant = grants.Grant(found.role, **granted)
    is_changed = change(found, grant, label)
    said = f"Saved the key. {grant.note}".rstrip() if is_changed else forms.UNCHANGED
    return forms.Outcome("keys.key", said, {"prefix": prefix})


@bp.post("/<prefix>/rotate")
@forms.loads_form(schemas.RotationForm(), form_page=key)
@issues_key
def rotate_key(prefix: str, grace: int) -> forms.Outcome:
    old = _own_key(prefix)
    new_key = old.rotate(grace)
    return _show_once(new_key, _own_key(prefix))


@bp.post("/<prefix>/revoke")
def revoke_key(prefix: str) -> ResponseReturnValue:
    """End a key on its next request; to end the last full key, enter it again."""
    found = _own_key(prefix)
    with db.atomic():
        db.lock_until_commit(found.project_id)
        is_last = _is_last_full(found)
        if not is_last:
            found.revoke()
    if is_last:
        if not is_confirmed():
            return key(prefix, NOT_CONFIRMED), 403
        found.revoke()
    return forms.go_to(
        "keys.key", "Revoked the key. It no longer works.", prefix=prefix
    )


@bp.post("/<prefix>/unban")
@forms.idempotent
def unban_key(prefix: str) -> forms.Outcome:
    _own_key(prefix).unban()
    said = "Ended the ban. The key works again."
    return forms.Outcome("keys.key", said, {"prefix": prefix})


def list_keys(project_id: int, status: str) -> list[Key]:
    select = Key.ended if status == "ended" else Key.working
    found = Key.with_ends().where(Key.id.in_(select(project_id, clock.now_ms())))
    return list(found.order_by(Key.id.desc()))


def change(key: Key, grant: grants.Grant, label: str | None) -> bool:
    """Change a key, all but its role, and return whether anything is another now.

    Call it in a transaction. Raises `RuleError`, as for a key that has ended.
    """
    # Limits that stay may be above those of the project, which then count.
    if (grant.per_minute, grant.per_day) != (key.per_minute, key.per_day):
        grant.require_within(key.project.quota)
    db.lock_until_commit(key.project_id)  # nobody changes it meanwhile
    old = Key.get_or_none(Key.id == key.id, Key.works_at(clock.now_ms()))
    if old is None:
        raise KeyNotActive(key.prefix)
    new = {"label": label, **grant.columns}
    was: dict[str, Any] = {name: getattr(old, name) for name in new}
    was = {name: value for name, value in was.items() if value != new[name]}
    if was:
        changed: dict[str, Any] = {name: new[name] for name in was}
        Key.update(changed).where(Key.id == key.id).execute()
        facts = {"project": key.project.slug, "key": key.prefix, "was": was}
        emit_after_commit("key_changed", **facts, **changed)
    return bool(was)


def _own_key(prefix: str) -> Key:
    """Return a key of the project; raises `NotFound`."""
    key = Key.find_by_prefix(prefix) if re.fullmatch(PREFIX_PATTERN, prefix) else None
    if key is None or key.project_id != current_project().id:
        raise NotFound("key", prefix)
    return key


def _is_last_full(key: Key) -> bool:
    """Return whether it is the only full key that works, besides rotated ones."""
    stays = (Key.id == key.id) | Key.retires_ms.is_null()
    keys = Key.working(key.project_id, clock.now_ms())
    return [full.id for full in keys.where(Key.role == grants.FULL, stays)] == [key.id]


def _show_once(new_key: str, old: Key | None = None, note: str = "") -> forms.Outcome:
    prefix = new_key[:PREFIX_LENGTH]
    key = _own_key(prefix)
    api = f"{request.host_url}v1"
    page = render_template(
        "new_key.html",
        new_key=new_key,
        key=key,
        old=old,
        note=note,
        api=api,
        web_page=render_template("web_page.html", key=new_key, api=api),
    )
    return forms.Outcome("keys.key", ISSUED_BEFORE, {"prefix": prefix}, page=page)
