"""The parameters of lists."""

from petstore.events import TOPICS
from petstore.models import BEFORE_ALL
from petstore.schemas import StrictSchema
from petstore.schemas.fields import Choice, Name, UrlInteger

DEFAULT_LIMIT = 20
MAX_LIMIT = 100


class DashboardQuery(StrictSchema):
    """The parameters of a list of the dashboard, which begins at the first page."""

    limit = UrlInteger(1, MAX_LIMIT, load_default=DEFAULT_LIMIT)
    after = UrlInteger(load_default=None)
    before = UrlInteger(load_default=None)
    last = UrlInteger(1, 1, load_default=None)
    whole = UrlInteger(1, 1, load_default=None)
    page = UrlInteger(1, load_default=None)  # its number in the links of the list


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


class ActivityQuery(DashboardQuery):
    topic = Choice(TOPICS, load_default=TOPICS[0])


class RequestQuery(DashboardQuery):
    id = Name(load_default=None)
