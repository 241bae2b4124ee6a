"""/dashboard/requests: list the project's failed requests, or find one by its id."""

from flask import render_template

from petstore.errors import ERRORS
from petstore.extensions.dashboard.lists import read_list
from petstore.extensions.dashboard.pages import PageBlueprint
from petstore.models.grants import WRITE
from petstore.models.requests import FailedRequest
from petstore.schemas.paging import RequestQuery

INDEX = "requests.requests"

bp = PageBlueprint("requests", __name__, "/requests", required_role=WRITE)


@bp.get("")
def requests() -> str:
    page = read_list(INDEX, RequestQuery(), FailedRequest.listed)
    return render_template("requests.html", page=page, errors=ERRORS)
