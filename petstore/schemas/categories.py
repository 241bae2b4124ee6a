"""Categories in bodies and parameters."""

from marshmallow import EXCLUDE

from petstore.schemas import ChangeForm, ResourceSchema, StrictSchema, TextSchema
from petstore.schemas.fields import Integer, Name, UrlInteger

NAME = {"description": "Its name; null until it has one.", "example": "Dogs"}


class CategoryChangeSchema(StrictSchema):
    """The body that names a category; null takes the name away."""

    name = Name(required=True, allow_none=True, metadata=NAME)


class CategoryForm(TextSchema):
    name = Name(required=True)


class CategoryChangeForm(ChangeForm):
    """The form that names a category; an empty field takes the name away."""

    name = Name(load_default=None)


class CategoryMergeForm(TextSchema):
    class Meta:
        unknown = EXCLUDE  # the browser also sends the name from the form

    into = UrlInteger(required=True)


class CategorySchema(ResourceSchema):
    plural = "Categories"

    id = Integer(metadata={"description": "The categoryId of its animals."})
    name = Name(allow_none=True, metadata=NAME)
