"""/dashboard/activity: who did what in the project."""

import json
from collections.abc import Iterable
from typing import Any

from flask import Flask, render_template

from petstore import clock
from petstore.extensions.activity.events import TOPICS, title_of
from petstore.extensions.dashboard import (
    Cursor,
    Listing,
    ListPage,
    ListQuery,
    PageBlueprint,
    add_block,
    add_page,
    current_project,
    key_labels,
    read_list,
)
from petstore.models.activity import KEPT, KEPT_MS, SETTINGS, Event
from petstore.models.grants import FULL
from petstore.schemas.fields import Choice
from petstore.settings import Settings

INDEX = "activity.activity"
SHOWN_DEEDS = 20

bp = PageBlueprint("activity", __name__, "/activity", required_role=FULL)


def init_app(app: Flask, settings: Settings) -> None:
    add_page(app, bp, "Activity", INDEX, place=80)
    add_block(app, "animal", "history.html")
    app.jinja_env.globals["history_of"] = history_of


class ActivityQuery(ListQuery):
    topic = Choice(TOPICS, load_default=TOPICS[0])


@bp.get("")
def activity() -> str:
    page = read_list(INDEX, ActivityQuery(), listed)
    keys = [event.actor for event in page.rows]
    keys += [event.facts["key"] for event in page.rows if "key" in event.facts]
    return render_template(
        "activity.html",
        page=page,
        title_of=title_of,
        topics=TOPICS,
        labels=key_labels(current_project().id, keys),
        kept=KEPT,
        days=KEPT_MS // clock.MS_PER_DAY,
    )


def listed(project_id: int, cursor: Cursor, topic: str = SETTINGS) -> ListPage:
    listed = Listing(
        Event,
        ((Event.project, project_id), (Event.topic, topic)),
        search=[Event.at_ms >= clock.now_ms() - KEPT_MS],
        newest=KEPT,
    ).show(cursor)
    rows = [row._replace(facts=json.loads(row.facts)) for row in listed.rows]
    return listed._replace(rows=rows)


def history_of(pet_id: int, order_ids: Iterable[int]) -> dict[str, Any]:
    """Return what people did with an animal and its orders, newest first."""
    project_id = current_project().id
    items = [{"animal": pet_id}, *({"order": order_id} for order_id in order_ids)]
    found = Event.select().where(
        Event.project == project_id,
        Event.topic == "shelter",
        Event.at_ms >= clock.now_ms() - KEPT_MS,
        Event.facts.in_([json.dumps(each) for each in items]),
    )
    events = list(found.order_by(Event.id.desc()).limit(SHOWN_DEEDS))
    labels = key_labels(project_id, [event.actor for event in events])
    return {"events": events, "labels": labels}
