"""/dashboard/usage and /dashboard/requests: what programs do, and what has failed."""

from flask import Flask, current_app, render_template

from petstore.extensions.dashboard import (
    Cursor,
    Listing,
    ListPage,
    ListQuery,
    PageBlueprint,
    add_block,
    add_page,
    current_project,
    current_windows,
    read_list,
    takes_long,
)
from petstore.extensions.monitoring.models import (
    FAILURES_KEPT,
    SHOWN_DAYS,
    FailedRequest,
    history,
    totals_of,
)
from petstore.models.grants import WRITE
from petstore.models.plans import PLANS
from petstore.schemas.fields import Name
from petstore.settings import Settings
from petstore.web.application import current_request
from petstore.web.limiter import limiter_of

USAGE = "usage.usage"
REQUESTS = "requests.requests"

usage_bp = PageBlueprint("usage", __name__, "/usage", required_role=WRITE)
requests_bp = PageBlueprint("requests", __name__, "/requests", required_role=WRITE)


def init_app(app: Flask, settings: Settings) -> None:
    add_page(app, requests_bp, "Requests", REQUESTS, place=90)
    add_page(app, usage_bp, "Usage", USAGE, place=100)
    add_block(app, "programs", "what_programs_do.html")
    add_block(app, "limits", "more_about_limits.html")
    app.jinja_env.globals["totals_of"] = totals_of  # for the pages of keys
    app.jinja_env.get_template("usage.html")  # compiling it takes long


@usage_bp.get("")
@takes_long
def usage() -> str:
    caller = current_request().state.required_caller
    days = history(current_project().id, SHOWN_DAYS)
    fixed = {name: terms.quota for name, terms in PLANS.items() if terms.quota}
    return render_template(
        "usage.html",
        windows=current_windows(),
        days=days,
        top=max(2, *(day.served + day.refused for day in days)),
        plans=PLANS,
        offers=fixed | {caller.plan: caller.quota},
        is_degraded=limiter_of(current_app).strategy.is_down,
    )


class RequestQuery(ListQuery):
    id = Name(load_default=None)


@requests_bp.get("")
def requests() -> str:
    page = read_list(REQUESTS, RequestQuery(), failures_page)
    return render_template("requests.html", page=page)


def failures_page(
    project_id: int, cursor: Cursor, *, id: str | None = None
) -> ListPage:
    """Return a page of what has failed; with the id of a request, only that."""
    search = [FailedRequest.is_kept()]
    if id:
        search.append(FailedRequest.request_id == id.strip())
    filters = ((FailedRequest.project, project_id),)
    return Listing(FailedRequest, filters, search=search, newest=FAILURES_KEPT).show(
        cursor
    )
