"""/openapi.json: OpenAPI 3.1, generated from the contracts and schemas that serve."""

import functools
import inspect
import json
import re
import tomllib
from pathlib import Path
from typing import Any

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from flask import Blueprint, Flask, Response, current_app, request
from marshmallow import fields
from werkzeug.routing import Rule

from petstore.errors import ERRORS
from petstore.models import Conflict
from petstore.models.grants import TAKES
from petstore.models.stored_responses import StoredResponse
from petstore.schemas import MAX_LIMIT, ChangeSchema, ResourceSchema, StrictSchema
from petstore.schemas.fields import INT64_MAX, MAX_NAME_LENGTH, Integer, Name
from petstore.schemas.orders import OrderStatus
from petstore.schemas.pets import PetStatus
from petstore.settings import INTERFACE, Settings
from petstore.web.application import (
    API_PREFIX,
    JsonResponse,
    camel,
    serve_on_every_host,
)
from petstore.web.error_handlers import add_reference

INTRODUCTION = """\
Manage animals for adoption, their categories and the orders for them. Every operation
takes an API key as a bearer token; the plan of its project limits the requests per
minute and day.
"""
JSON = "application/json"
INT64 = {"type": "integer", "format": "int64", "minimum": 0, "maximum": INT64_MAX}


TEXT = {"type": "string", "maxLength": 8192}


def _header(description: str, example: str | int) -> dict[str, Any]:
    schema = INT64 if isinstance(example, int) else TEXT
    return {"description": description, "schema": schema, "example": example}


_TABLES = tomllib.loads(Path(__file__).with_name("descriptions.toml").read_text())
# When each error happens, by its code, and values for an example of its message.
EXPLANATIONS: dict[str, dict[str, Any]] = _TABLES["errors"]
ON_EVERY_RESPONSE, HEADERS = (
    {name: _header(**described) for name, described in _TABLES[table].items()}
    for table in ("on_every_response", "headers")
)
CONFLICT = 409
NOT_JSON = 415
# Operations share the descriptions of failures with other statuses. Each operation
# describes its own conflicts; a 405 or 431 is sent before an operation is called.
NOT_SHARED = {405, CONFLICT, 431}
# The errors that every operation may cause.
EVERYWHERE = {
    *("invalid_request", "missing_api_key", "key_not_allowed", "project_suspended"),
    *("unknown_host", "rate_limit_exceeded", "internal_error", "service_unavailable"),
}
ERROR_MEMBERS = {
    # It is no enumeration, since a later code would break generated clients.
    "code": {
        "type": "string",
        "description": "Which error it is, for programs; others may be added.",
        "examples": list(ERRORS),
        "maxLength": 64,
    },
    "message": {
        "type": "string",
        "description": "What is wrong and what helps, for people.",
        "maxLength": 65_536,
    },
    "status": INT64
    | {
        "description": "The HTTP status code.",
        "minimum": 400,
        "maximum": 599,
        "example": 400,
    },
}
# Enumerations that several schemas share.
ENUMS = (PetStatus, OrderStatus)
TAGS = {"pets": ["Pets", "animals"]}
OTHER_TAGS = ["Store"]
EXAMPLE_ID = 1  # the first id in a new database, where the examples work
# The label of each sample, which is the name of its template, and its language.
SAMPLES = {"curl": "Shell", "Python": "Python", "JavaScript": "JavaScript"}
IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    # There is no example, since tools would send it with every request.
    "description": "A new key of your own for each request that you may have to retry.",
    "schema": {
        "type": "string",
        "minLength": 1,
        "maxLength": 255,
        "pattern": "^[!-~]+$",
    },
}

bp = Blueprint("openapi", __name__)


def init_app(app: Flask, settings: Settings) -> None:
    """Describe all registered operations, when the first request asks for them."""
    bases = {"Production": settings.production_url, "Staging": settings.staging_url}
    app.extensions["openapi_servers"] = [
        _server(url, name) for name, url in bases.items() if url
    ]
    app.extensions["openapi"] = functools.cache(functools.partial(_describe, app))
    app.register_blueprint(bp)
    add_reference(app, "/openapi.json")
    serve_on_every_host(app, "/openapi.json")


@bp.get("/openapi.json")
def openapi() -> Response:
    headers = {"Access-Control-Allow-Origin": "*"}
    return JsonResponse.of(describe(), headers=headers)


def describe() -> dict[str, Any]:
    """Return the interface description, with the addresses for the current request."""
    # Without a valid Host header, the addresses are relative.
    here = request.host_url if request.host else "/"
    servers = current_app.extensions["openapi_servers"] or [
        _server(f"{here}{API_PREFIX[1:]}", "This service, local or in production")
    ]
    reference = {"url": f"{here}docs", "description": "The reference, with a guide."}
    description: dict[str, Any] = current_app.extensions["openapi"]()
    return description | {"servers": servers, "externalDocs": reference}


def _server(url: str, description: str) -> dict[str, Any]:
    return {"url": url, "description": description, "x-internal": False}


def _describe(app: Flask) -> dict[str, Any]:
    marshmallow = MarshmallowPlugin()
    spec = APISpec(
        title="Pet Store Service",
        version=INTERFACE,
        openapi_version="3.1.0",  # old tools know no later one
        plugins=[marshmallow],
        info={
            # It is short, since generators copy it into each file.
            "description": INTRODUCTION,
            "contact": {"name": "Pet Store Service"},
            "license": {"name": "MIT License", "identifier": "MIT"},
        },
        security=[{"apiKey": []}],
        tags=[
            {"name": "Pets", "description": "The animals for adoption."},
            {"name": "animals", "description": "The same operations as under Pets."},
            {"name": "Store", "description": "Orders, and categories of animals."},
        ],
    )
    marshmallow.map_to_openapi_type(Integer, "integer", "int64")
    spec.components.security_scheme("apiKey", {"type": "http", "scheme": "bearer"})
    _add_components(spec, marshmallow)
    _add_operations(spec, app)
    return spec.to_dict()


def _add_components(spec: APISpec, marshmallow: MarshmallowPlugin) -> None:
    error = {"properties": ERROR_MEMBERS, "required": list(ERROR_MEMBERS)}
    spec.components.schema("Error", {"type": "object"} | error)
    for enum in ENUMS:
        choices = list(enum.choices)
        spec.components.schema(enum.__name__, {"type": "string", "enum": choices})
    if marshmallow.converter:  # always, but mypy does not know that
        marshmallow.converter.add_attribute_function(_refer_to_enum)
        marshmallow.converter.add_attribute_function(_allow_what_is_stored)
        marshmallow.converter.add_parameter_attribute_function(_show_example)
    for change in ChangeSchema.__subclasses__():
        spec.components.schema(_name(change), {"minProperties": 1}, schema=change)
    for resource in ResourceSchema.__subclasses__():
        item = _reference(_name(resource))
        many = {"type": "array", "items": item, "maxItems": MAX_LIMIT}
        spec.components.schema(resource.plural, many)
    for name, header in (ON_EVERY_RESPONSE | HEADERS).items():
        spec.components.header(name, header)
    for status in {error.status for error in ERRORS.values()} - NOT_SHARED:
        own = ["Accept-Patch"] * (status == NOT_JSON)
        failure = _failure(status, set(ERRORS), *own)
        spec.components.response(f"Failure{status}", failure)


def _add_operations(spec: APISpec, app: Flask) -> None:
    for rule in app.url_map.iter_rules():
        view = app.view_functions[rule.endpoint]
        if hasattr(view, "contract"):
            [method] = (rule.methods or set()) - {"HEAD", "OPTIONS"}
            path = re.sub(r"<id:(\w+)>", lambda id: f"{{{camel(id[1])}}}", rule.rule)
            path = path.removeprefix(API_PREFIX)
            operation = _operation(path, rule, method, view)
            spec.path(path, operations={method.lower(): operation})


def _operation(path: str, rule: Rule, method: str, view: Any) -> dict[str, Any]:
    contract = view.contract
    summary, _, details = (inspect.getdoc(view) or "").partition("\n\n")
    paragraphs = (details, TAKES.get(contract.required_role))
    body = _example(contract.body) if contract.body else None
    operation: dict[str, Any] = {
        "operationId": camel(view.__name__),
        "summary": summary.rstrip("."),
        "description": "\n\n".join(filter(None, paragraphs)),
        "tags": TAGS.get(rule.endpoint.partition(".")[0], OTHER_TAGS),
        "parameters": [
            *map(_path_parameter, sorted(rule.arguments)),
            {"in": "query", "schema": type(contract.query)},
        ],
        "responses": _responses(rule, method, view),
        "x-codeSamples": _samples(method, path, contract, body),
    }
    if contract.body:
        content = {"schema": type(contract.body), "example": body}
        operation["requestBody"] = {"required": True, "content": {JSON: content}}
    if method in StoredResponse.methods:
        operation["parameters"].append(IDEMPOTENCY_KEY)
    if contract.deprecation:
        operation["deprecated"] = True
        operation["x-sunset"] = contract.deprecation.headers["Sunset"]
    return operation


def _samples(method: str, path: str, contract: Any, body: Any) -> list[dict[str, str]]:
    """Return a call of an operation in each language, as Redocly's x-codeSamples."""
    values = {
        "method": method,
        "path": re.sub(r"{\w+}", str(EXAMPLE_ID), path),
        "body": body,
        "json": json.dumps(body),
        "has_key": method in StoredResponse.methods,
        "contract": contract,
    }
    template = current_app.jinja_env.get_template
    return [
        {
            "lang": language,
            "label": label,
            "source": template(f"samples/{label}.txt").render(values),
        }
        for label, language in SAMPLES.items()
    ]


def _path_parameter(name: str) -> dict[str, Any]:
    return {
        "name": camel(name),
        "in": "path",
        "required": True,
        "description": f"The id of the {name.removesuffix('_id')}.",
        "schema": INT64,
        "example": EXAMPLE_ID,
    }


def _responses(rule: Rule, method: str, view: Any) -> dict[str, Any]:
    contract = view.contract
    has_key = method in StoredResponse.methods
    own = {error.code for error in contract.rule_errors}
    codes = EVERYWHERE | own
    if rule.arguments:
        codes.add("not_found")
    if contract.body:
        codes |= {"body_too_large", "unsupported_media_type"}
    if has_key:
        codes |= {"idempotency_key_in_use", "idempotency_key_reused"}
    if contract.deprecation:
        codes.add("operation_removed")
    statuses = contract.statuses if contract.returns else (204,)
    responses: dict[str, Any] = {
        str(status): _success(method, view) for status in statuses
    }
    for status in sorted({ERRORS[code].status for code in codes}):
        responses[str(status)] = f"Failure{status}"
    if str(CONFLICT) in responses:
        is_stored = any(issubclass(each, Conflict) for each in contract.rule_errors)
        repeated = ["Idempotent-Replayed"] * (has_key and is_stored)
        responses[str(CONFLICT)] = _failure(CONFLICT, codes, *repeated)
    return responses


def _success(method: str, view: Any) -> dict[str, Any]:
    contract = view.contract
    headers = [
        *(("Location",) if method == "POST" else ()),
        *(("Idempotent-Replayed",) if method in StoredResponse.methods else ()),
        *(("Link",) if contract.paged else ()),
        *(contract.deprecation.headers if contract.deprecation else ()),
    ]
    response: dict[str, Any] = {
        "description": "Success.",
        "headers": _references(*headers),
    }
    if contract.returns:
        response["content"] = {JSON: _returned(contract)}
    return response


def _returned(contract: Any) -> dict[str, Any]:
    example = _example(contract.returns) | contract.example
    if contract.paged:
        return {"schema": _reference(contract.returns.plural), "example": [example]}
    return {"schema": type(contract.returns), "example": example}


def _example(schema: StrictSchema) -> dict[str, Any]:
    return {
        field.data_key or name: field.metadata["example"]
        for name, field in schema.fields.items()
    }


def example_of(code: str) -> str:
    """Return the message of an error as an example."""
    return ERRORS[code].message.format(*EXPLANATIONS[code].get("example", ()))


def _failure(status: int, codes: set[str], *headers: str) -> dict[str, Any]:
    """Describe the response with a status, from the errors of `codes` that have it."""
    found = [code for code in ERRORS if ERRORS[code].status == status and code in codes]
    examples = {
        code: {"value": {"code": code, "message": example_of(code), "status": status}}
        for code in found
    }
    own = [name for code in found for name in ERRORS[code].headers]
    return {
        "description": " ".join(EXPLANATIONS[code]["when"] for code in found),
        "headers": _references(*own, *headers),
        "content": {JSON: {"schema": _reference("Error"), "examples": examples}},
    }


def _references(*names: str) -> dict[str, Any]:
    """Return references to these headers, and to those of every response."""
    return {
        name: {"$ref": f"#/components/headers/{name}"}
        for name in (*ON_EVERY_RESPONSE, *names)
    }


def _refer_to_enum(
    _converter: object, field: fields.Field[Any], ret: dict[str, Any], **_: object
) -> dict[str, str]:
    if not isinstance(field, ENUMS):
        return {}
    del ret["type"], ret["enum"]
    return _reference(type(field).__name__)


def _allow_what_is_stored(
    _converter: object, field: fields.Field[Any], ret: dict[str, Any], **_: object
) -> dict[str, int]:
    """Describe a name in a response as any text, since clients check what they read.

    The length allows for clients that count bytes, or units of UTF-16.
    """
    if not (isinstance(field, Name) and isinstance(field.parent, ResourceSchema)):
        return {}
    del ret["pattern"], ret["minLength"]
    return {"maxLength": 4 * MAX_NAME_LENGTH}


def _show_example(
    _converter: object, _field: object, ret: dict[str, Any], **_: object
) -> dict[str, Any]:
    """Move the example out of the schema, to where importing tools look for it."""
    example = ret["schema"].pop("example")
    return {"example": ret["schema"].get("default", example)}


def _name(schema: type[StrictSchema]) -> str:
    return schema.__name__.removesuffix("Schema")


def _reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}
