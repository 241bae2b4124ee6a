"""/openapi.json: OpenAPI 3.1, generated from the contracts and schemas that serve."""

import functools
from typing import Any

import orjson
from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from flask import Blueprint, Flask, Response, current_app, request

from petstore.openapi.components import add_components
from petstore.openapi.guide import INTRODUCTION, link, sections
from petstore.openapi.operations import operations
from petstore.schemas.fields import Integer
from petstore.settings import INTERFACE, Settings
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
    """Return the interface description, which pages of every origin may read."""
    headers = {"Access-Control-Allow-Origin": "*"}
    return JsonResponse(orjson.dumps(describe()), headers=headers)


def describe() -> dict[str, Any]:
    """Return the interface description, with the addresses for the current request."""
    # Without a valid Host header they are relative.
    here = request.host_url if request.host else "/"
    servers = current_app.extensions["openapi_servers"] or [
        _server(f"{here}{API_PREFIX[1:]}", "This service, local or in production")
    ]
    reference = {"url": f"{here}docs", "description": "The reference, with a guide."}
    description: dict[str, Any] = current_app.extensions["openapi"]()
    return description | {"servers": servers, "externalDocs": reference}


def _server(url: str, description: str) -> dict[str, Any]:
    return {"url": url, "description": description, "x-internal": False}


def _about() -> dict[str, Any]:
    # Generators copy this into each file, so the guide itself is on the page alone.
    topics = ", ".join(link(section.title) for section in sections())
    return {
        "description": f"{INTRODUCTION}\nThe guide: {topics}.\n",
        "contact": {"name": "Pet Store Service"},
        "license": {"name": "MIT License", "identifier": "MIT"},
    }


def _describe(app: Flask) -> dict[str, Any]:
    marshmallow = MarshmallowPlugin()
    spec = APISpec(
        title="Pet Store Service",
        version=INTERFACE,
        openapi_version="3.1.1",
        plugins=[marshmallow],
        info=_about(),
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
