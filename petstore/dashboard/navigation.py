"""The pages that the head of every page leads to."""

from typing import NamedTuple

from flask import current_app, request, url_for

PAGES = (
    ("Overview", "overview.overview"),
    ("Animals", "animals.animals"),
    ("Orders", "dashboard_orders.orders"),
    ("Keys", "keys.keys"),
    ("Settings", "domains.domains"),
)


class Entry(NamedTuple):
    """A link, and where it stands to the page that is shown."""

    label: str
    url: str
    is_here: bool
    is_exact: bool


def navigation() -> list[Entry]:
    """The links to those pages that there are."""
    return [
        _entry(label, endpoint)
        for label, endpoint in PAGES
        if endpoint in current_app.view_functions
    ]


def _entry(label: str, endpoint: str) -> Entry:
    is_here = request.blueprint == endpoint.partition(".")[0]
    return Entry(label, url_for(endpoint), is_here, request.endpoint == endpoint)
