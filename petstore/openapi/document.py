"""/openapi.json: OpenAPI 3.1, generated from the contracts and schemas that serve."""

import functools
from typing import Any

import orjson
from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from flask import Blueprint, Flask, Response, current_app, request

from petstore.docs.components import add_components
from petstore.docs.failures import ErrorSchema, responses
from petstore.docs.headers import HEADERS
from petstore.docs.operations import operations
from petstore.responses import JsonResponse
from petstore.routing import API_PREFIX
from petstore.schemas.fields import Integer
from petstore.settings import Settings
from petstore.version import INTERFACE

ABOUT = """\
Manage animals for adoption, their categories and the orders for them. Every operation
takes an API key as a bearer token; the plan of its project limits the requests per
minute and day.
"""

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
    # Without a valid Host header the reference is relative.
    here = request.host_url if request.host else "/"
    servers = current_app.extensions["openapi_servers"] or [
        _server(f"{here}{API_PREFIX[1:]}", "Local")
    ]
    description = current_app.extensions["openapi"]() | {"servers": servers}
    return JsonResponse(orjson.dumps(description))


def _server(url: str, description: str) -> dict[str, Any]:
    return {"url": url, "description": description, "x-internal": False}


def _describe(app: Flask) -> dict[str, Any]:
    marshmallow = MarshmallowPlugin()
    spec = APISpec(
        title="Pet Store Service",
        version=INTERFACE,
        openapi_version="3.1.1",
        plugins=[marshmallow],
        info={"description": ABOUT, "contact": {"name": "Pet Store Service"}},
        security=[{"apiKey": []}],
        tags=[
            {"name": "Pets", "description": "The animals for adoption."},
            {"name": "animals", "description": "The same operations as under Pets."},
            {"name": "Store", "description": "Orders, and categories of animals."},
        ],
    )
    marshmallow.map_to_openapi_type(Integer, "integer", "int64")
    spec.components.security_scheme("apiKey", {"type": "http", "scheme": "bearer"})
    spec.components.schema("Error", schema=ErrorSchema)
    add_components(spec, marshmallow)
    for name, header in HEADERS.items():
        spec.components.header(name, header)
    for status, response in responses().items():
        spec.components.response(f"Failure{status}", response)
    for path, methods in operations(app).items():
        spec.path(path, operations=methods)
    return spec.to_dict()
