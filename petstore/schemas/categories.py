"""Categories in bodies and parameters."""

from petstore.schemas.fields import Integer, Name, StrictSchema, UrlInteger

NAME = {"description": "Its name; null until it has one.", "example": "Dogs"}


class CategoryChangeSchema(StrictSchema):
    """The body that names a category; null takes the name away."""

    name = Name(required=True, allow_none=True, metadata=NAME)


class CategoryChangeForm(CategoryChangeSchema):
    """The form that names a category; an empty field takes the name away."""

    name = Name(load_default=None)


class NamedCategoryForm(CategoryChangeSchema):
    """The form that names a category, which it identifies by a field."""

    category_id = UrlInteger(data_key="categoryId", required=True)


class CategorySchema(StrictSchema):
    """A category in a response."""

    plural = "Categories"

    id = Integer(
        required=True,
        metadata={"description": "The categoryId of its animals.", "example": 7},
    )
    name = Name(required=True, allow_none=True, metadata=NAME)
