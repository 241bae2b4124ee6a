"""/dashboard/categories: list, add, rename and delete categories."""

from flask import render_template, url_for
from flask.typing import ResponseReturnValue

from petstore.concurrency import give_way
from petstore.dashboard.forms import (
    EMPTY,
    Form,
    Outcome,
    filled_in,
    idempotent,
    loads_form,
)
from petstore.dashboard.lists import read_list, read_query
from petstore.dashboard.pages import PageBlueprint
from petstore.dashboard.sessions import current_project, takes_long
from petstore.models.categories import Category
from petstore.models.grants import WRITE
from petstore.models.pets import MOST_OF_CATEGORY, Pet, remove_category
from petstore.schemas.categories import (
    CategoryChangeForm,
    CategoryForm,
    CategoryMergeForm,
)
from petstore.schemas.paging import DashboardQuery

INDEX = "dashboard_categories.categories"
RENAME = "dashboard_categories.rename_category"

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
    page = read_list(INDEX, DashboardQuery(), Category.listed)
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
        animals=Pet.count_by_category(project_id, {row.id for row in page.rows}),
        most=MOST_OF_CATEGORY,
    )


@bp.post("")
@loads_form(CategoryForm(), form_page=categories)
@idempotent
def add_category(name: str) -> Outcome:
    parameters, _ = read_query(DashboardQuery())
    category_id = Category.add(current_project().id, name)
    said = f"Added the category {name} (no. {category_id})."
    return Outcome(INDEX, said, parameters, {"category": category_id})


@bp.post("/<id:category_id>")
@loads_form(CategoryChangeForm(), form_page=categories)
@idempotent
def rename_category(category_id: int, **changes: str | None) -> Outcome:
    parameters, _ = read_query(DashboardQuery())
    project_id, said = current_project().id, f"Saved category {category_id}."
    for name in changes.values():
        before = Category.find_own(project_id, category_id)
        Category.rename(project_id, category_id, name, is_own=True)
        old = before.name if before else None
        said += f" Name: {old or 'none'} → {name or 'none'}."
    return Outcome(INDEX, said, parameters, {"category": category_id})


@bp.post("/<id:category_id>/merge")
@takes_long
@loads_form(CategoryMergeForm(), form_page=categories)
def merge_category(category_id: int, into: int) -> ResponseReturnValue:
    """Move the animals of a category to another one in parts, and delete it."""
    parameters, _ = read_query(DashboardQuery())
    project_id = current_project().id
    while Pet.move_some(project_id, category_id, into):
        give_way()

    @idempotent
    def finish(category_id: int) -> Outcome:
        Pet.move_some(project_id, category_id, into)  # what was added meanwhile
        remove_category(project_id, category_id)
        label = Category.labels(project_id, [into])[into]
        said = (
            f"Moved the animals of category {category_id} to {label}, and deleted it."
        )
        return Outcome(INDEX, said, parameters, {"category": into})

    return finish(category_id=category_id)


@bp.post("/<id:category_id>/delete")
@idempotent
def delete_category(category_id: int) -> Outcome:
    parameters, _ = read_query(DashboardQuery())
    remove_category(current_project().id, category_id)
    facts = {"category": category_id, "removed": True}
    return Outcome(INDEX, f"Deleted category {category_id}.", parameters, facts)
