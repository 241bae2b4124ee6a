"""The parameters of lists."""

from petstore.models import BEFORE_ALL
from petstore.schemas import StrictSchema
from petstore.schemas.fields import UrlInteger

DEFAULT_LIMIT = 20
MAX_LIMIT = 100


class PageQuery(StrictSchema):
    limit = UrlInteger(
        1,
        MAX_LIMIT,
        load_default=DEFAULT_LIMIT,
        metadata={"description": "The maximum number of items."},
    )
    after = UrlInteger(
        # A function, so that the interface description does not show it.
        load_default=lambda: BEFORE_ALL,
        metadata={
            "description": "The id of the last item seen; the list continues after it.",
            "example": 0,
        },
    )
