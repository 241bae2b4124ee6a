"""Categories in bodies and parameters."""

from petstore.schemas import ResourceSchema, StrictSchema
from petstore.schemas.fields import Integer, Name

NAME = {"description": "Its name; null until it has one.", "example": "Dogs"}


class CategoryChangeSchema(StrictSchema):
    """The body that names a category; null takes the name away."""

    name = Name(required=True, allow_none=True, metadata=NAME)


class CategorySchema(ResourceSchema):
    plural = "Categories"

    id = Integer(metadata={"description": "The categoryId of its animals."})
    name = Name(allow_none=True, metadata=NAME)
