"""/v1/categories: list and name the categories of the animals."""

from flask import Blueprint, g

from petstore.api.contract import Answer, Contract
from petstore.api.paging import page
from petstore.api.paths import PREFIX
from petstore.models.categories import Category
from petstore.schemas.categories import (
    CategoryChangeSchema,
    CategoryQuery,
    CategorySchema,
)

BEFORE_ALL = -1

bp = Blueprint("categories", __name__, url_prefix=f"{PREFIX}/categories")


@bp.get("")
@Contract(query=CategoryQuery(), returns=CategorySchema(many=True))
def list_categories(limit: int, after: int = BEFORE_ALL) -> Answer:
    """List categories by ascending id."""
    rows = Category.page(g.caller.project_id, after=after, limit=limit + 1)
    return page(rows, limit)


@bp.put("/<id:category_id>")
@Contract(body=CategoryChangeSchema(), returns=CategorySchema(), statuses=(200, 201))
def put_category(category_id: int, name: str | None) -> Answer:
    """Name a category, which comes into being where it does not exist."""
    category, is_new = Category.rename(g.caller.project_id, category_id, name)
    return Answer(category, is_created=is_new)
