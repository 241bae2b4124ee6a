"""/dashboard: the home page, with open reservations and the newest animals."""

from flask import render_template

from petstore.extensions.dashboard.forms import EMPTY
from petstore.extensions.dashboard.limits import current_windows
from petstore.extensions.dashboard.pages import PageBlueprint
from petstore.extensions.dashboard.pets import category_labels
from petstore.extensions.dashboard.sessions import current_project, takes_long
from petstore.models.grants import WRITE
from petstore.models.orders import Order
from petstore.models.pets import STATUSES, Pet
from petstore.storage.lists import Cursor

INDEX = "home.home"
SHOWN_ROWS = 8

bp = PageBlueprint("home", __name__, "", required_role=WRITE)


@bp.get("/")
@bp.get("")
@takes_long
def home() -> str:
    project_id = current_project().id
    reserved = Order.listed(project_id, Cursor(SHOWN_ROWS), status="placed")
    newest = Pet.listed(project_id, Cursor(SHOWN_ROWS)).rows
    return render_template(
        "home.html",
        form=EMPTY,
        windows=current_windows(),
        reserved=reserved,
        marked=Order.animals_without(project_id, Cursor(SHOWN_ROWS)),
        names=Pet.names(project_id, {order.pet_id for order in reserved.rows}),
        newest=newest,
        labels=category_labels(project_id, {pet.category_id for pet in newest}),
        animals=Pet.counts(project_id),
        statuses=STATUSES,
    )
