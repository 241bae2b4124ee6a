"""/: a page for everybody, which needs no store and leads to what else is served."""

from typing import NamedTuple

from flask import Flask, Response, current_app, render_template, request

from petstore.web.application import PAGE_HEADERS, current_request

HEADERS = PAGE_HEADERS | {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self' data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
}


class Entrance(NamedTuple):
    """Where the page leads to, for whom, and whether the hosts of projects have it."""

    path: str
    label: str
    audience: str
    is_on_every_host: bool = False
    picture: tuple[str, str] | None = None  # the owner and the name of a static file


def init_app(app: Flask) -> None:
    app.extensions["entrances"] = []
    app.add_url_rule("/", view_func=front)


def add_entrance(app: Flask, entrance: Entrance) -> None:
    app.extensions["entrances"].append(entrance)


def front() -> Response:
    """Return the page; on the host of a project, it leads to the base domain, too."""
    entrances: list[Entrance] = current_app.extensions["entrances"]
    base_url = ""
    if current_request().state.host_project_id is not None:
        base_domain = current_app.config["BASE_DOMAIN"]
        _, colon, port = request.host.partition(":")
        base_url = f"{request.scheme}://{base_domain}{colon}{port}/"
        entrances = [entrance for entrance in entrances if entrance.is_on_every_host]
    page = render_template("front.html", base_url=base_url, entrances=entrances)
    return Response(page, headers=HEADERS)
