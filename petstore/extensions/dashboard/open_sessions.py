"""/dashboard/sessions: list and end the open sessions of the project."""

from flask import render_template, session

from petstore.extensions.dashboard.forms import Outcome, idempotent
from petstore.extensions.dashboard.models import MOST_LISTED, Session
from petstore.extensions.dashboard.pages import PageBlueprint
from petstore.extensions.dashboard.sessions import TOKEN, current_project
from petstore.models.grants import FULL
from petstore.web.application import current_request

INDEX = "open_sessions.open_sessions"

# With the reserve, the sessions of a key that uses up the limits can still be ended.
bp = PageBlueprint(
    "open_sessions", __name__, "/sessions", required_role=FULL, has_reserve=True
)


@bp.get("")
def open_sessions() -> str:
    return render_template(
        "open_sessions.html",
        sessions=Session.open_by_name(current_project().id),
        own=Session.name_of(session[TOKEN]),
        most=MOST_LISTED,
    )


@bp.post("/<name>/end")
@idempotent
def end_session(name: str) -> Outcome:
    Session.end_named(current_request().state.required_caller, name)
    return Outcome(INDEX, "The session is ended.")


@bp.post("/end-others")
@idempotent
def end_other_sessions() -> Outcome:
    Session.end_others(current_request().state.required_caller, session[TOKEN])
    return Outcome(INDEX, "All other sessions are ended.")
