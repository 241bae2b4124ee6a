"""/dashboard: pages for people, who sign in with a key of their project.

The names below are for pages of other extensions.
"""

from flask import Flask

from petstore.extensions.dashboard import (
    categories,
    home,
    keys,
    many,
    merges,
    open_sessions,
    orders,
    pages,
    pets,
    sessions,
    sign_in,
)
from petstore.extensions.dashboard.formats import status as status
from petstore.extensions.dashboard.forms import EMPTY as EMPTY
from petstore.extensions.dashboard.forms import MAY_BE_SHOWN_AGAIN as MAY_BE_SHOWN_AGAIN
from petstore.extensions.dashboard.forms import Form as Form
from petstore.extensions.dashboard.forms import Outcome as Outcome
from petstore.extensions.dashboard.forms import filled_in as filled_in
from petstore.extensions.dashboard.forms import go_to as go_to
from petstore.extensions.dashboard.forms import idempotent as idempotent
from petstore.extensions.dashboard.histories import key_labels as key_labels
from petstore.extensions.dashboard.limits import EXPENSIVE_PAGES as EXPENSIVE_PAGES
from petstore.extensions.dashboard.limits import (
    count_expensive_page as count_expensive_page,
)
from petstore.extensions.dashboard.limits import count_form as count_form
from petstore.extensions.dashboard.limits import current_windows as current_windows
from petstore.extensions.dashboard.limits import require_granted as require_granted
from petstore.extensions.dashboard.listing import Cursor as Cursor
from petstore.extensions.dashboard.listing import Listing as Listing
from petstore.extensions.dashboard.listing import ListPage as ListPage
from petstore.extensions.dashboard.lists import read_list as read_list
from petstore.extensions.dashboard.models import NoSuchUpload as NoSuchUpload
from petstore.extensions.dashboard.models import Upload as Upload
from petstore.extensions.dashboard.pages import PageBlueprint as PageBlueprint
from petstore.extensions.dashboard.pages import add_block as add_block
from petstore.extensions.dashboard.pages import add_page as add_page
from petstore.extensions.dashboard.pets import ANIMALS as ANIMALS
from petstore.extensions.dashboard.schemas import ListQuery as ListQuery
from petstore.extensions.dashboard.sessions import TOKEN as TOKEN
from petstore.extensions.dashboard.sessions import current_project as current_project
from petstore.extensions.dashboard.sessions import takes_long as takes_long
from petstore.extensions.dashboard.sign_in import NOT_CONFIRMED as NOT_CONFIRMED
from petstore.extensions.dashboard.sign_in import is_confirmed as is_confirmed
from petstore.extensions.dashboard.turns import (
    acquire_exclusively as acquire_exclusively,
)
from petstore.extensions.dashboard.turns import exclusively as exclusively
from petstore.extensions.dashboard.typed_names import (
    similar_categories as similar_categories,
)
from petstore.models.grants import WRITE
from petstore.settings import Settings
from petstore.upkeep import housekeeping


def init_app(app: Flask, settings: Settings) -> None:
    sessions.init_app(app, settings)
    pages.init_app(app, settings)
    housekeeping.do_regularly(merges.finish)
    add_page(app, sign_in.bp)
    add_page(app, home.bp, "Home", home.INDEX, place=10, role=WRITE)
    add_page(app, pets.bp, "Animals", pets.ANIMALS, place=20, role=WRITE)
    add_page(app, many.bp)
    add_page(app, orders.bp, "Reservations", orders.INDEX, place=30, role=WRITE)
    add_page(app, categories.bp, "Categories", categories.INDEX, place=40, role=WRITE)
    add_page(app, keys.bp, "Keys", keys.INDEX, place=50)
    add_page(app, open_sessions.bp, "Sessions", open_sessions.INDEX, place=60)
    # Compiling it takes long. A worker answers nobody meanwhile, so it does this before
    # it serves.
    app.jinja_env.get_template("macros.html")
