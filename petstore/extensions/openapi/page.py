"""/docs: the API reference, from the description and `guide.md`."""

import functools
import json
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import mistune
from flask import Flask, Response, current_app, render_template
from markupsafe import escape

from petstore.errors import ERRORS
from petstore.extensions.openapi.document import (
    EXPLANATIONS,
    INTRODUCTION,
    ON_EVERY_RESPONSE,
    describe,
    example_of,
)
from petstore.models.plans import PLANS
from petstore.settings import Settings
from petstore.web.application import PAGE_HEADERS, serve_on_every_host
from petstore.web.assets import AssetBlueprint
from petstore.web.error_handlers import add_reference
from petstore.web.front import Entrance, add_entrance

BASE_ADDRESS = "BASE_ADDRESS"  # in the text of the guide
# Members of a body that name an item which the operation changes.
CHANGED = {"petId"}

bp = AssetBlueprint(
    "docs",
    __name__,
    url_prefix="/docs",
    template_folder="templates",
    static_folder="static",
)


def init_app(app: Flask, settings: Settings) -> None:
    """Serve the page, which may load only files of its own and call only the API."""
    bases = (settings.production_url, settings.staging_url)
    api_origins = " ".join(["'self'", *map(_origin, filter(None, bases))])
    app.config["DOCS_SECURITY_POLICY"] = (
        "default-src 'none'; script-src 'self'; style-src 'self'; "
        f"img-src 'self' data:; connect-src {api_origins}; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    app.extensions["docs"] = functools.cache(_render)
    app.register_blueprint(bp)
    entrance = Entrance("/docs", "API reference", "for developers", True)
    add_entrance(app, entrance)
    add_reference(app, "/docs")
    serve_on_every_host(app, "/docs")


@bp.get("")
def docs() -> str:
    """Return the page with the configured server, or the host of the request."""
    servers = describe()["servers"]
    page: str = current_app.extensions["docs"]()
    return page.replace(BASE_ADDRESS, escape(servers[0]["url"]))


def _render() -> str:
    """Return the page, with `BASE_ADDRESS` in place of the first server."""
    description = describe()
    first, *others = description["servers"]
    return render_template(
        "docs.html",
        introduction=INTRODUCTION,
        sections=sections(),
        groups=_groups(description),
        schemas=description["components"]["schemas"],
        servers=[first | {"url": BASE_ADDRESS}, *others],
        everywhere=ON_EVERY_RESPONSE,
        only_adds=_only_adds,
        json=json.dumps,
        markdown=_markdown,
        resolved=lambda part: _resolved(description, part),
    )


class Section(NamedTuple):
    title: str
    text: str

    @property
    def anchor(self) -> str:
        return self.title.lower().replace(" ", "-")


def sections() -> list[Section]:
    """Return the sections of the guide, a Markdown file with template tags."""
    text = Path(__file__).with_name("guide.md").read_text()
    guide = current_app.jinja_env.overlay(autoescape=False).from_string(text)
    values = {"plans": PLANS, "errors": ERRORS, "explanations": EXPLANATIONS}
    text = guide.render(values, example_of=example_of)
    parts = f"\n{text}".split("\n## ")[1:]
    return [Section(*part.split("\n\n", 1)) for part in parts]


def _groups(description: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the operations by their first tag, each with its method and path."""
    groups = defaultdict(list)
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            shown = operation | {"method": method.upper(), "path": path}
            groups[operation["tags"][0]].append(shown)
    return groups


def _only_adds(operation: dict[str, Any]) -> bool:
    """Return whether the example of the body changes nothing that exists."""
    example = operation["requestBody"]["content"]["application/json"]["example"]
    return operation["method"] == "POST" and not CHANGED & example.keys()


def _resolved(description: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """Return a part of the description; a reference becomes what it refers to."""
    if "$ref" not in part:
        return part
    target = description
    for name in part["$ref"].removeprefix("#/").split("/"):
        target = target[name]
    return target | part


class _Renderer(mistune.HTMLRenderer):
    """Gives each heading its text as id, and a link to itself."""

    def heading(self, text: str, level: int, **_: Any) -> str:
        return f'<h{level} id="{text}"><a href="#{text}">{text}</a></h{level}>\n'


# The text is our own, and the parser escapes HTML in it.
_markdown = mistune.create_markdown(renderer=_Renderer(), plugins=["table"])


@bp.after_request
def _add_security_headers(response: Response) -> Response:
    policy = current_app.config["DOCS_SECURITY_POLICY"]
    response.headers.update(PAGE_HEADERS | {"Content-Security-Policy": policy})
    return response


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
