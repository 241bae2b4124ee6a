"""/dashboard/categories: list, add, rename and delete categories."""

from contextlib import suppress

from flask import render_template, url_for
from flask.typing import ResponseReturnValue
from peewee import SQL, fn

from petstore import timeouts
from petstore.concurrency import call_within
from petstore.extensions.dashboard import forms, listing, schemas, typed_names
from petstore.extensions.dashboard.lists import read_list, read_query
from petstore.extensions.dashboard.merges import Merge
from petstore.extensions.dashboard.pages import PageBlueprint
from petstore.extensions.dashboard.sessions import current_project, takes_long
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
def categories(form: forms.Form = forms.EMPTY, category_id: int | None = None) -> str:
    """List categories by id; the form renames the category, or adds one without it."""
    project_id = current_project().id
    page = read_list(INDEX, schemas.CategoryListQuery(), list_categories)
    form = forms.filled_in(form, url_for(INDEX))
    own_forms = {
        row.id: forms.filled_in(forms.EMPTY, url_for(RENAME, category_id=row.id))
        or forms.Form.showing({"name": row.name or ""})
        for row in page.rows
    }
    if category_id in own_forms:
        own_forms[category_id], form = form, forms.EMPTY
    return render_template(
        "categories.html",
        page=page,
        forms=own_forms,
        form=form,
        animals=count_animals(project_id, {row.id for row in page.rows}),
        most=MOST_OF_CATEGORY,
    )


def list_categories(project_id: int, cursor: listing.Cursor) -> listing.ListPage:
    of_project = ((Category.project, project_id),)
    return listing.Listing(Category, of_project, is_descending=False).show(cursor)


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
@forms.loads_form(schemas.CategoryForm(), form_page=categories)
@forms.idempotent
def add_category(name: str) -> forms.Outcome:
    parameters, _ = read_query(schemas.CategoryListQuery())
    category_id = typed_names.new_category(current_project().id, name)
    said = f"Added the category {name} (no. {category_id})."
    return forms.Outcome(INDEX, said, parameters, {"category": category_id})


@bp.post("/<id:category_id>")
@forms.loads_form(schemas.CategoryChangeForm(), form_page=categories)
@forms.idempotent
def rename_category(category_id: int, **changes: str | None) -> forms.Outcome:
    parameters, _ = read_query(schemas.CategoryListQuery())
    project_id = current_project().id
    category = typed_names.require_category(project_id, category_id, "name")
    old, new = category.name, changes.get("name", category.name)
    if old == new:
        return forms.Outcome(INDEX, forms.UNCHANGED, parameters)
    if new:
        typed_names.require_free(project_id, new, category_id)
    Category.rename(project_id, category_id, new)
    said = f"Renamed category {category_id}: {old or 'no name'} → {new or 'no name'}."
    return forms.Outcome(INDEX, said, parameters, {"category": category_id})


@bp.post("/<id:category_id>/merge")
@takes_long
@forms.loads_form(schemas.CategoryMergeForm(), form_page=categories)
def merge_category(category_id: int, into: int) -> ResponseReturnValue:
    """Join a category with another one; what takes long goes on in the background."""
    begun = begin_merge(category_id=category_id, into=into)
    close_connections()  # moving takes one of its own
    seconds = timeouts.LIMITS.moving_seconds
    with suppress(TimeoutError):
        call_within(seconds, Merge.carry_out, current_project().id)
    return begun


@forms.idempotent
def begin_merge(category_id: int, into: int) -> forms.Outcome:
    parameters, _ = read_query(schemas.CategoryListQuery())
    project_id = current_project().id
    Merge.begin(project_id, category_id, into)
    labels = typed_names.labels_of(project_id, [category_id, into])
    said = f"Joined {labels[category_id]} with {labels[into]}. "
    said += "Its animals move there, and it is deleted with the last of them."
    facts = {"category": category_id, "removed": True, "into": into}
    return forms.Outcome(INDEX, said, parameters, facts)


@bp.post("/<id:category_id>/delete")
@forms.idempotent
def delete_category(category_id: int) -> forms.Outcome:
    parameters, _ = read_query(schemas.CategoryListQuery())
    remove_category(current_project().id, category_id)
    facts = {"category": category_id, "removed": True}
    return forms.Outcome(INDEX, f"Deleted category {category_id}.", parameters, facts)
