"""/dashboard/requests: the project's failed requests, found by their ids."""

from flask import render_template

from petstore.dashboard.lists import read_list
from petstore.dashboard.pages import PageBlueprint
from petstore.dashboard.sessions import current_project
from petstore.errors import ERRORS
from petstore.models.grants import WRITE
from petstore.models.requests import listed_failures
from petstore.schemas.paging import RequestQuery
from petstore.storage.lists import Listed, Part

INDEX = "requests.requests"

bp = PageBlueprint("requests", __name__, "/requests", takes=WRITE)


@bp.get("")
def requests() -> str:
    """List failed requests of the last 24 hours, newest first."""
    page = read_list(INDEX, RequestQuery(), _listed)
    return render_template("requests.html", page=page, errors=ERRORS)


def _listed(part: Part, id: str | None) -> Listed:
    request_id = id.strip() if id else None
    return listed_failures(current_project().id, part, request_id=request_id)
