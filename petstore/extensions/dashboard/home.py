"""/dashboard: the home page, with open reservations and the newest animals."""

from flask import render_template
from peewee import SQL, fn

from petstore.extensions.dashboard import forms, listing, pets
from petstore.extensions.dashboard.limits import current_windows
from petstore.extensions.dashboard.orders import animal_names, list_orders
from petstore.extensions.dashboard.pages import PageBlueprint
from petstore.extensions.dashboard.sessions import current_project, takes_long
from petstore.models.grants import WRITE
from petstore.models.orders import Order
from petstore.models.pets import STATUSES, Pet
from petstore.storage import db

INDEX = "home.home"
SHOWN_ROWS = 8

bp = PageBlueprint("home", __name__, "", required_role=WRITE)


@bp.get("/")
@bp.get("")
@takes_long
def home() -> str:
    project_id = current_project().id
    reserved = list_orders(project_id, listing.Cursor(SHOWN_ROWS), status="placed")
    newest = pets.list_animals(project_id, listing.Cursor(SHOWN_ROWS)).rows
    return render_template(
        "home.html",
        form=forms.EMPTY,
        windows=current_windows(),
        reserved=reserved,
        marked=_marked_animals(project_id),
        names=animal_names(project_id, reserved.rows),
        newest=newest,
        labels=pets.category_labels(project_id, {pet.category_id for pet in newest}),
        animals=pets.count_animals(project_id),
        statuses=STATUSES,
    )


def _marked_animals(project_id: int) -> listing.ListPage:
    """Return the newest pending animals for which no order is open."""
    filters = ((Pet.project, project_id), (Pet.status, "pending"))
    columns = (Order.project, Order.pet_id, Order.status)
    values = (Pet.project, Pet.id, "placed")
    equal = list(zip(columns, values, strict=True))
    opened = Order.select(SQL("1")).where(db.along_index(equal, Order.id >= 0))
    marked = listing.Listing(Pet, filters, search=[~fn.EXISTS(opened)])
    return marked.show(listing.Cursor(SHOWN_ROWS))
