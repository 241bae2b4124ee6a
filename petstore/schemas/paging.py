"""The parameters of every list."""

from petstore.schemas.fields import StrictSchema, UrlInteger

DEFAULT_LIMIT = 20
MAX_LIMIT = 100


class PageQuery(StrictSchema):
    """How many, and from where on."""

    limit = UrlInteger(1, MAX_LIMIT, load_default=DEFAULT_LIMIT)
    after = UrlInteger(load_default=0)
