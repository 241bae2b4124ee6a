"""Categories in bodies and parameters."""

from petstore.schemas.fields import Integer, Name, StrictSchema, UrlInteger
from petstore.schemas.paging import AFTER, PageQuery

NAME = {"description": "Its name; null until it has one.", "example": "Dogs"}


class CategoryChangeSchema(StrictSchema):
    """The body that names a category; null takes the name away."""

    name = Name(required=True, allow_none=True, metadata=NAME)


class CategorySchema(StrictSchema):
    """A category as it is answered."""

    id = Integer(
        required=True,
        metadata={"description": "The categoryId of its animals.", "example": 7},
    )
    name = Name(required=True, allow_none=True, metadata=NAME)


class CategoryQuery(PageQuery):
    """Which categories a list shows; there may be one with the id 0."""

    after = UrlInteger(metadata=AFTER)
