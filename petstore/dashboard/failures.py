"""Failures under /dashboard, as pages."""

from http import HTTPStatus

from flask import Flask, Response, render_template

from petstore import errors
from petstore.dashboard.pages import protect
from petstore.dashboard.paths import is_dashboard_path

TITLES = {
    400: "That did not work",
    404: "There is nothing here",
    405: "That did not work",
    413: "That is too much",
    429: "Too many requests",
    500: "Something failed on our side",
    503: "The service is away for a moment",
}
# Where the text of the failure is about the interface, the pages have their own.
TEXTS = {
    404: "The page does not exist, or what it showed is gone.",
    405: "This address takes no such request. Open it from the pages instead.",
}


def init_app(app: Flask) -> None:
    """Answer people with pages."""
    errors.show_as_pages(app, is_dashboard_path, _page)


def _page(status: int, message: str) -> Response:
    title = TITLES.get(status) or HTTPStatus(status).phrase
    text = TEXTS.get(status, message)
    page = render_template("failure.html", status=status, heading=title, text=text)
    return protect(Response(page, status, mimetype="text/html"))
