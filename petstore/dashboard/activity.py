"""/dashboard/activity: what happened in the project, and who has caused it."""

from functools import partial

from flask import render_template

from petstore.clock import MS_PER_DAY
from petstore.dashboard.lists import read_list
from petstore.dashboard.pages import pages_blueprint
from petstore.dashboard.sessions import current_project
from petstore.events import KEPT, KEPT_MS
from petstore.models.activity import Event
from petstore.models.grants import FULL
from petstore.schemas.paging import DashboardQuery

INDEX = "activity.activity"

bp = pages_blueprint("activity", __name__, "/activity", takes=FULL)


@bp.get("")
def activity() -> str:
    """List events, newest first."""
    fetch = partial(Event.listed, current_project().id)
    page = read_list(INDEX, DashboardQuery(), fetch)
    days = KEPT_MS // MS_PER_DAY
    return render_template("activity.html", page=page, kept=KEPT, days=days)
