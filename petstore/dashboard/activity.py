"""/dashboard/activity: who did what in the project."""

from flask import render_template

from petstore.clock import MS_PER_DAY
from petstore.dashboard.lists import read_list
from petstore.dashboard.pages import PageBlueprint
from petstore.dashboard.sessions import current_project
from petstore.events import KEPT, KEPT_MS, TOPICS
from petstore.models.activity import Event
from petstore.models.grants import FULL
from petstore.models.keys import Key
from petstore.schemas.paging import ActivityQuery

INDEX = "activity.activity"

bp = PageBlueprint("activity", __name__, "/activity", required_role=FULL)


@bp.get("")
def activity() -> str:
    page = read_list(INDEX, ActivityQuery(), Event.listed)
    keys = [event.actor for event in page.rows]
    keys += [event.facts["key"] for event in page.rows if "key" in event.facts]
    return render_template(
        "activity.html",
        page=page,
        topics=TOPICS,
        labels=Key.labels(current_project().id, keys),
        kept=KEPT,
        days=KEPT_MS // MS_PER_DAY,
    )
