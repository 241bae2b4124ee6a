"""The parameters of every list."""

from petstore.schemas.fields import StrictSchema, UrlInteger

DEFAULT_LIMIT = 20
MAX_LIMIT = 100
AFTER = {"description": "The last id seen; the list goes on behind it."}


class PageQuery(StrictSchema):
    """How many rows to show, and after which id."""

    limit = UrlInteger(
        1,
        MAX_LIMIT,
        load_default=DEFAULT_LIMIT,
        metadata={"description": "How many at most."},
    )
    after = UrlInteger(
        load_default=0,
        metadata=AFTER,
    )
