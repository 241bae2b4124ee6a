"""/v1/categories: list, get and name the categories of the animals."""

from flask import Blueprint

from petstore.api.contract import Contract, Result
from petstore.models.categories import Category
from petstore.models.grants import PUBLIC, WRITE
from petstore.models.pets import CategoryInUse, remove_category
from petstore.models.projects import ProjectFull
from petstore.schemas import PageQuery
from petstore.schemas.categories import CategoryChangeSchema, CategorySchema
from petstore.web.application import API_PREFIX

bp = Blueprint("categories", __name__, url_prefix=f"{API_PREFIX}/categories")


@bp.get("")
@Contract(required_role=PUBLIC, query=PageQuery(), returns=CategorySchema(), paged=True)
def list_categories(project_id: int, **part: int) -> Result:
    """List categories.

    They are in ascending order of `id`.
    """
    return Result(Category.page(project_id, **part))


@bp.get("/<id:category_id>")
@Contract(required_role=PUBLIC, returns=CategorySchema())
def get_category(project_id: int, category_id: int) -> Result:
    """Get a category.

    It exists as soon as an animal or a name refers to it.
    """
    return Result(Category.get_own(project_id, category_id))


@bp.put("/<id:category_id>")
@Contract(
    required_role=WRITE,
    body=CategoryChangeSchema(),
    returns=CategorySchema(),
    statuses=(200, 201),
    rule_errors=(ProjectFull,),
)
def put_category(project_id: int, category_id: int, name: str | None) -> Result:
    """Name a category.

    A category that does not exist is created.
    """
    category, is_new = Category.rename(project_id, category_id, name)
    return Result(category, is_created=is_new)


@bp.delete("/<id:category_id>")
@Contract(required_role=WRITE, rule_errors=(CategoryInUse,))
def delete_category(project_id: int, category_id: int) -> None:
    """Delete a category.

    No animal may have it.
    """
    remove_category(project_id, category_id)
