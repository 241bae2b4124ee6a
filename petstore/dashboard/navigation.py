"""The addresses under /dashboard, and the links at the head of every page."""

from typing import NamedTuple

from flask import current_app, request, url_for

PREFIX = "/dashboard"
PAGES = (
    ("Overview", "overview.overview"),
    ("Animals", "dashboard_pets.animals"),
    ("Orders", "dashboard_orders.orders"),
    ("Keys", "keys.keys"),
    ("Settings", "domains.domains"),
)


class Link(NamedTuple):
    """A link, and whether it leads to the current page or to its section."""

    label: str
    url: str
    is_here: bool
    is_exact: bool


def navigation() -> list[Link]:
    """Return the links to the registered pages."""
    return [
        _link(label, endpoint)
        for label, endpoint in PAGES
        if endpoint in current_app.view_functions
    ]


def is_dashboard_path(path: str) -> bool:
    """Return whether a path belongs to the dashboard, known or not."""
    return path == PREFIX or path.startswith(f"{PREFIX}/")


def _link(label: str, endpoint: str) -> Link:
    is_here = request.blueprint == endpoint.partition(".")[0]
    return Link(label, url_for(endpoint), is_here, request.endpoint == endpoint)
