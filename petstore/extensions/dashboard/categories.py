"""/dashboard/categories: list, add, rename and delete categories."""

from contextlib import suppress

from flask import render_template, url_for
from flask.typing import ResponseReturnValue
from peewee import SQL, fn

from petstore import timeouts
from petstore.concurrency import call_within
from petstore.extensions.dashboard.forms import (
    EMPTY,
    UNCHANGED,
    Form,
    Outcome,
    filled_in,
    idempotent,
    loads_form,
)
from petstore.extensions.dashboard.listing import Cursor, Listing, ListPage
from petstore.extensions.dashboard.lists import read_list, read_query
from petstore.extensions.dashboard.merges import Merge
from petstore.extensions.dashboard.pages import PageBlueprint
from petstore.extensions.dashboard.schemas import (
    CategoryChangeForm,
    CategoryForm,
    CategoryMergeForm,
    ListQuery,
)
from petstore.extensions.dashboard.sessions import current_project, takes_long
from petstore.extensions.dashboard.typed_names import (
    labels_of,
    new_category,
    require_category,
    require_free,
)
from petstore.models.categories import Category
from petstore.models.grants import WRITE
from petstore.models.pets import Pet, remove_category
from petstore.storage import close_connections, db

INDEX = "dashboard_categories.categories"
RENAME = "dashboard_categories.rename_category"
MOST_OF_CATEGORY = 1_000  # animals that are counted

bp = PageBlueprint(
    "dashboard_categories",
    __name__,
    "/categories",
    required_role=WRITE,
    counts_forms=True,
)


@bp.get("")
def categories(form: Form = EMPTY, category_id: int | None = None) -> str:
    """List categories by id; the form renames the category, or adds one without it."""
    project_id = current_project().id
    page = read_list(INDEX, ListQuery(), list_categories)
    form = filled_in(form, url_for(INDEX))
    forms = {
        row.id: filled_in(EMPTY, url_for(RENAME, category_id=row.id))
        or Form.showing({"name": row.name or ""})
        for row in page.rows
    }
    if category_id in forms:
        forms[category_id], form = form, EMPTY
    return render_template(
        "categories.html",
        page=page,
        forms=forms,
        form=form,
        animals=count_animals(project_id, {row.id for row in page.rows}),
        most=MOST_OF_CATEGORY,
    )


def list_categories(project_id: int, cursor: Cursor) -> ListPage:
    of_project = ((Category.project, project_id),)
    return Listing(Category, of_project, is_descending=False).show(cursor)


def count_animals(project_id: int, ids: set[int]) -> dict[int, int]:
    """Return how many animals each category has; at most MOST_OF_CATEGORY."""
    few = Pet.select(SQL("1")).where(
        Pet.project == Category.project, Pet.category_id == Category.id
    )
    number = few.limit(MOST_OF_CATEGORY).select_from(fn.COUNT(SQL("*")))
    counted = Category.select(Category.id, number).where(
        Category.project == project_id, Category.id.in_(ids)
    )
    return dict(db.scan(counted))


@bp.post("")
@loads_form(CategoryForm(), form_page=categories)
@idempotent
def add_category(name: str) -> Outcome:
    parameters, _ = read_query(ListQuery())
    category_id = new_category(current_project().id, name)
    said = f"Added the category {name} (no. {category_id})."
    return Outcome(INDEX, said, parameters, {"category": category_id})


@bp.post("/<id:category_id>")
@loads_form(CategoryChangeForm(), form_page=categories)
@idempotent
def rename_category(category_id: int, **changes: str | None) -> Outcome:
    parameters, _ = read_query(ListQuery())
    project_id = current_project().id
    category = require_category(project_id, category_id, "name")
    old, new = category.name, changes.get("name", category.name)
    if old == new:
        return Outcome(INDEX, UNCHANGED, parameters)
    if new:
        require_free(project_id, new, category_id)
    Category.rename(project_id, category_id, new)
    said = f"Renamed category {category_id}: {old or 'no name'} → {new or 'no name'}."
    return Outcome(INDEX, said, parameters, {"category": category_id})


@bp.post("/<id:category_id>/merge")
@takes_long
@loads_form(CategoryMergeForm(), form_page=categories)
def merge_category(category_id: int, into: int) -> ResponseReturnValue:
    """Join a category with another one; what takes long goes on in the background."""
    begun = begin_merge(category_id=category_id, into=into)
    close_connections()  # moving takes one of its own
    seconds = timeouts.LIMITS.moving_seconds
    with suppress(TimeoutError):
        call_within(seconds, Merge.carry_out, current_project().id)
    return begun


@idempotent
def begin_merge(category_id: int, into: int) -> Outcome:
    parameters, _ = read_query(ListQuery())
    project_id = current_project().id
    Merge.begin(project_id, category_id, into)
    labels = labels_of(project_id, [category_id, into])
    said = f"Joined {labels[category_id]} with {labels[into]}. "
    said += "Its animals move there, and it is deleted with the last of them."
    facts = {"category": category_id, "removed": True, "into": into}
    return Outcome(INDEX, said, parameters, facts)


@bp.post("/<id:category_id>/delete")
@idempotent
def delete_category(category_id: int) -> Outcome:
    parameters, _ = read_query(ListQuery())
    remove_category(current_project().id, category_id)
    facts = {"category": category_id, "removed": True}
    return Outcome(INDEX, f"Deleted category {category_id}.", parameters, facts)
