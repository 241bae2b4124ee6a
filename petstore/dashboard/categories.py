"""/dashboard/categories: the categories of the project's animals, named in place."""

from functools import partial

from flask import render_template, url_for
from flask.typing import ResponseReturnValue

from petstore.dashboard.forms import EMPTY, Form, filled_in, go_to, loads_form
from petstore.dashboard.lists import read_list, read_query
from petstore.dashboard.pages import pages_blueprint
from petstore.dashboard.sessions import current_project
from petstore.models.categories import Category
from petstore.models.grants import WRITE
from petstore.schemas.categories import CategoryChangeForm, NamedCategoryForm
from petstore.schemas.paging import DashboardQuery

INDEX = "dashboard_categories.categories"
RENAME = "dashboard_categories.rename_category"

bp = pages_blueprint(
    "dashboard_categories", __name__, "/categories", takes=WRITE, counts_forms=True
)


@bp.get("")
def categories(form: Form = EMPTY, category_id: int | None = None) -> str:
    """List categories by id; the form is that of one of them, or names another."""
    page = read_list(
        INDEX, DashboardQuery(), partial(Category.listed, current_project().id)
    )
    form = filled_in(form, url_for(INDEX))
    forms = {
        row.id: filled_in(EMPTY, url_for(RENAME, category_id=row.id))
        or Form({"name": row.name or ""})
        for row in page.rows
    }
    if category_id in forms:
        forms[category_id], form = form, EMPTY
    return render_template("categories.html", page=page, forms=forms, form=form)


@bp.post("")
@loads_form(NamedCategoryForm(), form_page=categories)
def add_category(category_id: int, name: str) -> ResponseReturnValue:
    """Name a category; one that does not exist is created."""
    return _rename(category_id, name)


@bp.post("/<id:category_id>")
@loads_form(CategoryChangeForm(), form_page=categories)
def rename_category(category_id: int, name: str | None) -> ResponseReturnValue:
    """Name a category, or take its name away."""
    return _rename(category_id, name)


def _rename(category_id: int, name: str | None) -> ResponseReturnValue:
    parameters, _ = read_query(DashboardQuery())
    Category.rename(current_project().id, category_id, name)
    effect = f"is named {name}" if name else "has no name now"
    return go_to(INDEX, f"The category {category_id} {effect}.", **parameters)
