"""/openapi.json: OpenAPI 3.1, generated from the contracts and schemas that serve."""

import functools
from typing import Any

import orjson
from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from flask import Blueprint, Flask, Response, current_app, request

from petstore.openapi.components import add_components
from petstore.openapi.guide import INTRODUCTION, sections
from petstore.openapi.operations import operations
from petstore.schemas.fields import Integer
from petstore.settings import Settings
from petstore.settings.version import INTERFACE
from petstore.web.application import API_PREFIX
from petstore.web.responses import JsonResponse

bp = Blueprint("openapi", __name__)


def init_app(app: Flask, settings: Settings) -> None:
    """Describe the operations; all must be registered before the first request."""
    bases = {"Production": settings.production_url, "Staging": settings.staging_url}
    app.extensions["openapi_servers"] = [
        _server(url, name) for name, url in bases.items() if url
    ]
    app.extensions["openapi"] = functools.cache(functools.partial(_describe, app))
    app.register_blueprint(bp)


@bp.get("/openapi.json")
def openapi() -> Response:
    """Return the interface description."""
    return JsonResponse(orjson.dumps(describe()))


def describe() -> dict[str, Any]:
    """Return the interface description, with the servers for the current request."""
    # Without a valid Host header the reference is relative.
    here = request.host_url if request.host else "/"
    servers = current_app.extensions["openapi_servers"] or [
        _server(f"{here}{API_PREFIX[1:]}", "Local")
    ]
    description: dict[str, Any] = current_app.extensions["openapi"]()
    return description | {"servers": servers}


def _server(url: str, description: str) -> dict[str, Any]:
    return {"url": url, "description": description, "x-internal": False}


def _about() -> str:
    guide = [f"## {section.title}\n\n{section.text}" for section in sections()]
    return "\n".join((INTRODUCTION, *guide))


def _describe(app: Flask) -> dict[str, Any]:
    marshmallow = MarshmallowPlugin()
    spec = APISpec(
        title="Pet Store Service",
        version=INTERFACE,
        openapi_version="3.1.1",
        plugins=[marshmallow],
        info={"description": _about(), "contact": {"name": "Pet Store Service"}},
        security=[{"apiKey": []}],
        tags=[
            {"name": "Pets", "description": "The animals for adoption."},
            {"name": "animals", "description": "The same operations as under Pets."},
            {"name": "Store", "description": "Orders, and categories of animals."},
        ],
    )
    marshmallow.map_to_openapi_type(Integer, "integer", "int64")
    spec.components.security_scheme("apiKey", {"type": "http", "scheme": "bearer"})
    add_components(spec, marshmallow)
    for path, methods in operations(app).items():
        spec.path(path, operations=methods)
    return spec.to_dict()
